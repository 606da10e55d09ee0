import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";

const missing = missingFor("sandbox") ?? missingInPython("browserbase");

describe.skipIf(missing !== undefined)(
  `Browserbase's SDK for Python${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => ["--placement", "sandbox", "--dialects", "browserbase"]);

    it("finds that every answer fits its types", async () => {
      const env = {
        ...process.env,
        BROWSERBASE_BASE_URL: `${test.service.baseUrl}/browserbase`,
        BROWSERBASE_API_KEY: test.service.apiKey,
      };
      const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, "browserbase_client.py")], {
        env,
      });
      expect(stdout).toBe("all answers fit\n");
    });
  },
);
