// Runs the checks in Node.
import { run } from "./checks.js";

declare const process: { argv: string[]; exitCode: number };

const lines = await run(process.argv[2]!, false);
console.log(lines.join("\n"));
if (lines.some((line) => !line.startsWith("ok "))) process.exitCode = 1;
