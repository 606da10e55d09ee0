import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import newest from "./operations.json" with { type: "json" };

const missing = missingFor("sandbox") ?? missingInPython("kernel");

describe.skipIf(missing !== undefined)(
  `the newest client of this contract${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => [
      "--placement",
      "sandbox",
      "--region",
      "us-east",
      "--allow-private-hosts",
      "127.0.0.1:1",
    ]);

    it.each([
      ["its newest fields", "kernel_client.py"],
      ["vaults, their items and fill", "kernel_vaults.py"],
      ["code", "kernel_code.py"],
    ])("finds that the answers to %s fit its types", async (_what, program) => {
      const env = { ...process.env, KERNEL_BASE_URL: test.service.baseUrl, KERNEL_API_KEY: test.service.apiKey };
      const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, program), "1"], { env });
      expect(stdout).toBe("all answers fit\n");
    });

    it("has the operations and fields that are listed here", async () => {
      const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, "list_operations.py")]);
      expect(JSON.parse(stdout)).toEqual(newest);
    });
  },
);
