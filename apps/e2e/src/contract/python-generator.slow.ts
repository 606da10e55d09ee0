import document from "@shoal/contract/openapi.json" with { type: "json" };
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { missingInPython, python } from "../testing/python.ts";

const missing = missingInPython("openapi_python_client");

describe.skipIf(missing !== undefined)(
  `openapi-python-client${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    it("generates every operation with typed bodies", () => {
      const folder = mkdtempSync(join(tmpdir(), "shoal-generated-"));
      try {
        writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
        writeFileSync(join(folder, "config.yml"), "post_hooks: []\n");
        const paths = ["--path", join(folder, "openapi.json"), "--output-path", join(folder, "client")];
        const options = [...paths, "--config", join(folder, "config.yml")];
        const { status, stdout } = spawnSync(python, ["-m", "openapi_python_client", "generate", ...options], {
          encoding: "utf8",
        });
        expect([status, stdout.match(/conflict\w*|Unable to parse.*|ERROR.*/g)]).toEqual([0, null]);
        const modules = globSync("client/*/api/*/*.py", { cwd: folder }).filter(
          (path) => !path.endsWith("__init__.py"),
        );
        const operations = Object.values(document.paths).flatMap((item) => Object.keys(item));
        expect(modules).toHaveLength(operations.length);
        const untyped = modules.filter((path) => /^ +body: .*\bAny\b/m.test(readFileSync(join(folder, path), "utf8")));
        expect(untyped).toEqual([]);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
);
