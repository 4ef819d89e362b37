// Runs the checks in a browser, and shows what they say.
import { run } from "./checks.js";

let evaluated = true;
try {
  new Function("return 1")();
} catch {
  evaluated = false; // as the page's policy wants it
}
const lines = await run("", true);
if (evaluated) lines.push("FAILED the page has no strict policy");
document.querySelector("#lines")!.textContent = lines.join("\n");
document.querySelector("#state")!.textContent = "done";
