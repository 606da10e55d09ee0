// Checks openapi.json: by the JSON Schema of OpenAPI 3.1, and by Redocly's strict rules as set in redocly.yaml.
// Usage: node tools/lint-openapi.mjs [FILE]
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Validator } from "@seriousme/openapi-schema-validator";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const file = process.argv[2] ?? join(root, "packages/contract/openapi.json");

const { errors, valid } = await new Validator().validate(file);
if (!valid) console.error(`${file} does not fit the schema of OpenAPI:\n${JSON.stringify(errors, null, 2)}`);

const redocly = fileURLToPath(new URL("bin/cli.js", import.meta.resolve("@redocly/cli/package.json")));
const { status } = spawnSync(
  process.execPath,
  [redocly, "lint", file, "--config", join(root, "redocly.yaml"), "--format", "codeframe"],
  {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
    stdio: ["ignore", 2, "ignore"],
  },
);
process.exit(valid && status === 0 ? 0 : 1);
