import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { missingInPython, python } from "../testing/python.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

/** Has a folder for each version, because Python knows one version of a package at a time. */
const folder = process.env.SHOAL_TEST_EARLIER_KERNEL;
const versions = readFileSync(join(import.meta.dirname, "../../earlier-kernel-versions.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

function missingVersions(): string | undefined {
  if (folder !== undefined && versions.every((version) => existsSync(join(folder, version)))) return undefined;
  return "no earlier versions: see apps/e2e/earlier-kernel-versions.txt";
}

const missing = missingFor("sandbox") ?? missingInPython("kernel") ?? missingVersions();

describe.skipIf(missing !== undefined)(
  `earlier SDKs of Python${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService(() => ["--placement", "sandbox", "--allow-private-hosts", "127.0.0.1"]);
    let site: Site;
    beforeAll(async () => {
      site = await serveSite((_request, response) =>
        response.setHeader("content-type", "text/html").end("<!doctype html><title>form</title>"),
      );
    });
    afterAll(() => site.close());

    it.each(versions)(
      "kernel %s uses files, processes, code, logs and recordings of a session without its key",
      async (version) => {
        const env = { ...process.env, KERNEL_BASE_URL: test.service.baseUrl, KERNEL_API_KEY: test.service.apiKey };
        const program = join(import.meta.dirname, "earlier_kernel.py");
        const { stdout } = await promisify(execFile)(python, [program, join(folder ?? "", version), site.url], { env });
        expect(stdout).toBe("all answers fit\n");
      },
    );
  },
);
