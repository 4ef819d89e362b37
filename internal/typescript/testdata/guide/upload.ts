import type { Api } from "./api.js";

async function* counting(file: AsyncIterable<Uint8Array>, sent: (bytes: number) => void) {
  let bytes = 0;
  for await (const chunk of file) {
    yield chunk; // comes back when there is room for the next one
    sent((bytes += chunk.length));
  }
}

// file: createReadStream(path) of node:fs, size: (await stat(path)).size
export const upload = (api: Api, file: AsyncIterable<Uint8Array>, size: number) =>
  api.files.put(counting(file, (bytes) => console.log(`${Math.floor((100 * bytes) / size)} %`)), { fileName: "a.zip" }).orThrow();
