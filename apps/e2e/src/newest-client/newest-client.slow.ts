import { execFile, spawnSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import newest from "./operations.json" with { type: "json" };

const python = process.env.SHOAL_TEST_PYTHON ?? "python3";
const wanted = newest.client.replace(" ", "==");
const version = `import importlib.metadata; raise SystemExit("kernel==" + importlib.metadata.version("kernel") != "${wanted}")`;
const hasPackage = spawnSync(python, ["-c", version]).status === 0;
const missing =
  missingFor("sandbox") ?? (hasPackage ? undefined : `no Python package: pip install ${wanted}, or SHOAL_TEST_PYTHON`);

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

    it("finds that the answers to its newest fields fit its types", async () => {
      const env = { ...process.env, KERNEL_BASE_URL: test.service.baseUrl, KERNEL_API_KEY: test.service.apiKey };
      const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, "kernel_client.py"), "1"], {
        env,
      });
      expect(stdout).toBe("all answers fit\n");
    });

    it("has the operations and fields that are listed here", async () => {
      const { stdout } = await promisify(execFile)(python, [join(import.meta.dirname, "list_operations.py")]);
      expect(JSON.parse(stdout)).toEqual(newest);
    });
  },
);
