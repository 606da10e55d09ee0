import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { serveSite } from "../testing/site.ts";

const missing = missingFor("sandbox") ?? missingInPython("steel");

describe.skipIf(missing !== undefined)(
  `Steel's SDK for Python${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      ...["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1", "--dialects", "steel"],
    ]);

    it("finds that every answer fits its types", async () => {
      const site = await serveSite((_request, response) =>
        response.setHeader("content-type", "text/html").end("<title>shop</title><h1>Fish</h1>"),
      );
      onTestFinished(() => site.close());
      const env = {
        ...process.env,
        STEEL_BASE_URL: `${test.service.baseUrl}/steel`,
        STEEL_API_KEY: test.service.apiKey,
      };
      const client = join(import.meta.dirname, "steel_client.py");
      const { stdout } = await promisify(execFile)(python, [client, site.url], { env });
      expect(stdout).toBe("all answers fit\n");
    });
  },
);
