// Reads an OpenAPI document from standard input and says whether it is valid.
import { Validator } from "@seriousme/openapi-schema-validator";
import { readFileSync } from "node:fs";

const validator = new Validator();
const result = await validator.validate(JSON.parse(readFileSync(0, "utf8")));
console.log(`OpenAPI ${validator.version}: ${result.valid ? "valid" : JSON.stringify(result.errors, null, 1)}`);
process.exit(result.valid ? 0 : 1);
