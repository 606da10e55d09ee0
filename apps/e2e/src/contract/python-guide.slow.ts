import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ModelServer } from "../agents/model-server.ts";
import { serveShopperModel } from "../agents/shopper-model.ts";
import { missingFor } from "../testing/components.ts";
import { guidePrograms, repository, useGuidePrograms } from "../testing/guide-runs.ts";
import { missingInPython } from "../testing/python.ts";
import { useService } from "../testing/service.ts";

const missing = missingFor("process") ?? missingInPython("browser_use, crawl4ai, kernel, mcp, playwright");

describe.skipIf(missing !== undefined)(
  `programs of the guide in Python${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const guide = useGuidePrograms();
    const test = useService(() => ["--warm", "1"]);
    let model: ModelServer<unknown>;
    beforeAll(async () => {
      model = await serveShopperModel();
    });
    afterAll(() => model[Symbol.asyncDispose]());

    it.each(
      guidePrograms.filter(({ language }) => language === "python").map((program) => [program.title, program] as const),
    )("%s", async (_title, program) => {
      const env = {
        OPENAI_API_KEY: "none",
        OPENAI_BASE_URL: model.baseURL,
        ANONYMIZED_TELEMETRY: "false",
        CRAWL4AI_NO_CLOUD_NOTICE: "1",
      };
      const output = await guide.run(program, test.service, env);
      expect(output).toBe(program.output);
    });
  },
);

it("the page names the versions that are tested", () => {
  const page = readFileSync(join(repository, "docs/guide/python.md"), "utf8");
  const pinned = readFileSync(join(repository, "apps/e2e/python-packages.txt"), "utf8").split("\n");
  const named = [...page.matchAll(/^\$ pip install (.+)$/gm)].flatMap(([, names = ""]) => names.split(" "));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !pinned.includes(name))).toEqual([]);
});
