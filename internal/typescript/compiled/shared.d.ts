/** Where an API is and how it is called: what createClient and the function of each action take. */
export interface ClientOptions {
    /** Where the API is: "https://api.example.com". In a browser "" is the page's own site; Node needs a whole URL. */
    baseUrl: string;
    /** Headers of every request, such as Authorization. A function is asked again before each request. */
    headers?: Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>);
    /** What sends requests; globalThis.fetch by default. */
    fetch?: typeof globalThis.fetch;
    /** Whether cookies go to other sites too: see fetch. */
    credentials?: RequestCredentials;
    /** The most that a call may take, retries included, in milliseconds: 30 000 by default. 0 is no limit. It is not for files. */
    timeout?: number;
    /**
     * How often a call is tried again: 2 by default. Only calls that did nothing, as the error says (`retryable`), and calls
     * that may be repeated (idempotent actions and GET) are. Retry-After is kept.
     */
    retries?: number;
    /** Around each attempt, the first outermost: may change the request, answer itself, or look at the answer. */
    intercept?: Intercept | readonly Intercept[];
    /** Pass the exported `validators`, or `validating` some, to have inputs checked before they are sent. Bundlers leave out the others. */
    validate?: Validators;
    /** What opens WebSockets; globalThis.WebSocket by default, which Node has since version 22. */
    webSocket?: typeof globalThis.WebSocket;
}
/** What one call takes. */
export interface CallOptions {
    /** Ends the call with an AbortError. */
    signal?: AbortSignal;
    /** Instead of the client's, in milliseconds. Of a stream it is the time until its answer begins; of a file there is none without it. */
    timeout?: number;
    /** Added to the client's. */
    headers?: Record<string, string>;
}
/** What a stream takes. */
export interface StreamOptions extends CallOptions {
    /** Where an earlier stream ended (its `lastEventId`), for actions that can go on from there. */
    lastEventId?: string;
    /**
     * How often in a row the stream is opened again when its connection breaks or its node stops, with waits that grow and Retry-After, and
     * with the id of the last value (Last-Event-ID). The action has to go on behind it: one that does not know of it begins anew, and
     * values come twice. 0 by default; without end for $events, where those that passed in between are lost.
     */
    reconnect?: number;
}
/** What an upload takes. */
export interface UploadOptions extends CallOptions {
    /** The name that the file has for the server; a File's own by default. */
    fileName?: string;
    /** The file's type; a Blob's own by default. Only files in memory can have one. */
    contentType?: string;
}
/** A file to upload. Browsers read streams to their end before they send them; Node sends them as they come. */
export type UploadBody = Blob | Uint8Array | ArrayBuffer | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
/** A request on its way out. Interceptors may change it. */
export interface Outgoing {
    /** "users.get"; "$batch" for a batch. */
    readonly action: string;
    /** 0 for the first one, 1 for the first retry. */
    readonly attempt: number;
    method: string;
    url: string;
    headers: Headers;
    body?: BodyInit;
    signal: AbortSignal;
}
/** Stands around requests: calls `next`, or answers itself. */
export type Intercept = (request: Outgoing, next: (request: Outgoing) => Promise<Response>) => Promise<Response>;
/** What a call ended with. */
export type Result<T, E> = {
    readonly ok: true;
    readonly value: T;
} | {
    readonly ok: false;
    readonly error: E;
};
/** A call that is under way. It never rejects: errors are in the result. */
export interface Call<T, E> extends Promise<Result<T, E>> {
    /** The output alone; errors are thrown. */
    orThrow(): Promise<T>;
}
/** The values of a stream. Errors are thrown by the loop, as an ApiError. Leaving the loop ends the stream. */
export interface Stream<T, E = CallError> extends AsyncIterable<T> {
    /** The id of the last value that came; "" for none. */
    readonly lastEventId: string;
    /** The values as results, of which the last may be an error, with its type. */
    results(): AsyncIterable<Result<T, E>>;
}
/** A stream with values both ways, over a WebSocket. The client's and the call's headers cannot be sent on it: use cookies. */
export interface Duplex<In, Out, E = CallError> extends AsyncIterable<Out> {
    /** The values as results, of which the last may be an error, with its type. */
    results(): AsyncIterable<Result<Out, E>>;
    /** Sends a value; waits while too much is on its way. Rejects with an ApiError when the stream has ended. */
    send(value: In): Promise<void>;
    /** Says that no more values follow. The other side's still come. */
    end(): void;
    /** Ends the stream both ways. */
    close(): void;
}
/** An action that is a stream. */
export interface StreamAction<In, Out, E = CallError> {
    /** Sends one value, or none, and gives what comes back. */
    (input?: In, options?: StreamOptions): Stream<Out, E>;
    /** Sends many values, then gives what comes back. Browsers read all of them before they send. */
    from(values: Iterable<In> | AsyncIterable<In>, options?: Omit<StreamOptions, "reconnect">): Stream<Out, E>;
    /** Values both ways at once. */
    open(options?: Pick<CallOptions, "signal" | "timeout">): Duplex<In, Out, E>;
}
/** A stream that takes one value. */
export interface ServerStreamAction<In, Out, E = CallError> {
    (input: In, options?: StreamOptions): Stream<Out, E>;
}
/** A stream that answers with one value, after the last that it takes. Browsers read all of them before they send. */
export interface ClientStreamAction<In, Out, E = CallError> {
    (values: Iterable<In> | AsyncIterable<In>, options?: CallOptions): Call<Out, E>;
}
/** An action that takes a file. */
export interface UploadAction<Out, E> {
    (body: UploadBody, options?: UploadOptions): Call<Out, E>;
}
/** An action that gives a file: read it with the methods of Response, or as a stream from its body. */
export interface DownloadAction<In, E> {
    (input?: In, options?: CallOptions): Call<Response, E>;
}
/** An error as the server sends it (RFC 9457). */
export interface Problem {
    type: string;
    title?: string;
    status: number;
    detail?: string;
    code?: string;
    name?: string;
    message?: string;
    data?: unknown;
    retryable?: boolean;
    node?: string;
    requestId?: string;
}
/** What all errors have in common. `type`, or `name`, which is its last part, tells which one it is. */
export declare class ApiError extends Error {
    readonly name: string;
    /** "urn:sabir:error:" and the name. */
    readonly type: string;
    /** The class of the error: "NotFound", "InvalidArgument" … */
    readonly code: string;
    /** Of the answer; 0 where none came. */
    readonly status: number;
    /** What a program needs to act on the error; its type is in the declared error. */
    readonly data: unknown;
    /** Whether the same call may succeed later and nothing was done. */
    readonly retryable: boolean;
    /** How many milliseconds the server asks to wait before the next try (Retry-After). */
    readonly retryAfter: number | undefined;
    /** The action that was called. */
    readonly action: string;
    /** Finds the call in the server's log. */
    readonly requestId: string | undefined;
    /** The node where it happened. */
    readonly node: string | undefined;
    /** The error as the server sent it. */
    readonly problem: Problem | undefined;
    constructor(action: string, name: string, message: string, more?: Partial<ApiError>);
}
/** A field of the input that breaks a rule. */
export interface FieldError {
    /** "items[2].price" */
    path: string;
    /** The same as a JSON Pointer (RFC 6901): "/items/2/price". */
    pointer: string;
    /** "required", "max" … */
    rule: string;
    /** The rule's parameter: "64" of max=64. */
    param?: string;
    /** What was given, unless it is a secret. */
    value?: unknown;
    message: string;
    /** Where the field came from, of a REST form. */
    in?: "path" | "query" | "header" | "cookie" | "form" | "body";
    /** Its name there, unless in the body. */
    name?: string;
}
/** The input breaks rules: `data` lists every field. */
export interface ValidationError extends ApiError {
    readonly type: "urn:sabir:error:ValidationFailed";
    readonly name: "ValidationFailed";
    readonly data: FieldError[];
}
/** The names of the errors that every call can end with. */
export type GeneralErrorName = "ActionNotFound" | "AddressRefused" | "BadCredentials" | "BadInput" | "BadKey" | "BadOutput" | "BreakerOpen" | "BulkheadFull" | "Canceled" | "CrossOrigin" | "DeadlineExceeded" | "EventNotOffered" | "HandlerFailed" | "InputTooLarge" | "KeysUnreachable" | "LinkLost" | "ManyValues" | "MessageTooLarge" | "MethodNotAllowed" | "NotANode" | "NotAllowed" | "NotSignedIn" | "Panic" | "RateLimited" | "ServiceUnavailable" | "SignedOut" | "StreamEnded" | "StreamWanted" | "TokenExpired" | "TooManyAbandoned" | "TooManyCalls" | "TooManyChecks" | "TooManyLevels" | "TooManyStreams" | "TooSlow" | "UnsupportedMediaType";
/** An error that every call can end with, such as BadKey or RateLimited. */
export interface GeneralError extends ApiError {
    readonly type: `urn:sabir:error:${GeneralErrorName}`;
    readonly name: GeneralErrorName;
}
/** Names that the description has not. To the compiler no text in a program is one, so that what compares `name` or `type` leaves these errors out. */
declare enum UndeclaredName {
    any = ""
}
/** An error that the description of the action does not name, from a server that has a newer one: `problem` is what it sent. */
export interface UndeclaredError extends ApiError {
    readonly type: UndeclaredName;
    readonly name: UndeclaredName;
    readonly problem: Problem;
}
/** No answer came, or it broke off. Unless the action is idempotent, nobody knows whether it ran. */
export interface NetworkError extends ApiError {
    readonly type: "urn:sabir:error:NetworkError";
    readonly name: "NetworkError";
}
/** The client's or the call's timeout passed. */
export interface TimeoutError extends ApiError {
    readonly type: "urn:sabir:error:TimeoutError";
    readonly name: "TimeoutError";
}
/** The caller's signal was aborted. */
export interface AbortError extends ApiError {
    readonly type: "urn:sabir:error:AbortError";
    readonly name: "AbortError";
}
/** What every call can end with. */
export type CallError = ValidationError | GeneralError | UndeclaredError | NetworkError | TimeoutError | AbortError;
/** An event that passed. */
export interface ApiEvent {
    event: string;
    payload: unknown;
    /** The node that emitted it. */
    node?: string;
    /** Every handler of it gets it, not one of each group. */
    broadcast?: boolean;
    /** The groups of handlers that the emitter chose; none where all get it. */
    groups?: readonly string[];
}
/** Checks the input of an action, and throws a ValidationError where it breaks rules: `validators`, or what `validating` makes. */
export type Validators = (action: string, input: unknown) => void;
/** The checks of some actions, by their names, for the option `validate`: `validating({ "a.b": validateAB })`. */
export declare function validating(checks: Readonly<Record<string, (input: any) => FieldError[]>>): Validators;
export {};
