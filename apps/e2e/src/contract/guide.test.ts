import { type FakeShoal, startFakeShoal } from "@shoal/testing";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenLinks, guidePages, linksOf } from "../testing/guide.ts";
import { builtCommand, guidePrograms, pageOf, repository, useGuidePrograms } from "../testing/guide-runs.ts";

const guide = useGuidePrograms();

describe("the programs of the guide and the READMEs", () => {
  // In page order on one service, as a reader would run them.
  describe("run one after another against one fake", () => {
    let fake: FakeShoal;
    beforeAll(async () => {
      if (!existsSync(builtCommand))
        throw new Error(`${builtCommand} is missing. Build it first: pnpm exec turbo run build --filter @shoal/cli`);
      fake = await startFakeShoal();
      // The fake does not run the sources that apps.md deploys.
      fake.addApp("greeter", { greet: (payload) => ({ text: `Hello, ${(payload as { name: string }).name}` }) });
    });
    afterAll(async () => {
      await guide.expectToEnd();
      await fake.close();
    });
    // Windows has no sh.
    const onFake = guidePrograms.filter(
      ({ trial, language }) => trial === "fake" && (language === "ts" || process.platform !== "win32"),
    );
    describe.each(Object.entries(Object.groupBy(onFake, pageOf)))("%s", (_page, programs = []) => {
      it.each(programs.map((program) => [program.title, program.language, program] as const))(
        "%s (%s)",
        async (_title, _language, program) => {
          await guide.expectToRun(program, { apiKey: fake.apiKey, baseUrl: fake.baseUrl });
        },
      );
    });
  });
});

it("every page of the guide has a program to run", () => {
  const run = new Set(guidePrograms.filter(({ trial }) => trial !== "check").map(pageOf));
  expect(
    guidePages.filter((page) => page.startsWith("docs/guide/") && page !== "docs/guide/README.md" && !run.has(page)),
  ).toEqual([]);
});

const pages = globSync(["*.md", "docs/*.md", "docs/{guide,decisions}/*.md", "{packages,apps}/*/README.md"], {
  cwd: repository,
});

it("pages use each picture, and the pictures are small", () => {
  const used = pages.flatMap((page) =>
    linksOf(readFileSync(join(repository, page), "utf8")).map((target) => join(dirname(page), target)),
  );
  const pictures = globSync("docs/images/*", { cwd: repository });
  expect(pictures.filter((picture) => !used.includes(picture))).toEqual([]);
  const sizes = pictures.map((picture) => statSync(join(repository, picture)).size);
  expect(Math.max(...sizes)).toBeLessThan(150_000);
});

it("links point to existing files", () => {
  expect(pages.flatMap((page) => brokenLinks(page, existsSync))).toEqual([]);
});
