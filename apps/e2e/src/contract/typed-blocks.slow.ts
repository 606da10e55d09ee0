import { loadConfig } from "@shoal/server";
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { builtCommand } from "../testing/guide-runs.ts";
import { useService } from "../testing/service.ts";
import { type TypedBlock, typedBlocksOf, typedPages } from "../testing/typed-blocks.ts";

const run = promisify(execFile);
const missing = missingFor("process");
const isShoal = (command: string) => /^(?:\.\/)?shoal /.test(command);
/** Settings are tried below, and packages by `.ci/newcomer`. */
const isTriedElsewhere = (command: string) => /^(?:\.\/)?shoal serve\b|^npm install\b/.test(command);
/** Follows until Ctrl-C, or names a thing that the reader has. */
const needsDryRun = (command: string) => /\bfs watch\b|--watch\b|\b[A-Z_]*ID\b/.test(command);
const cannotPrint = "this command cannot print its requests";

const blocks = typedPages.flatMap(typedBlocksOf);
const onService = blocks.filter(
  ({ commands, reason }) => reason === undefined && !commands.every((command) => isTriedElsewhere(command)),
);
const onSites = blocks.filter(({ commands, reason }) => reason === "site" && commands.some(isShoal));

describe.skipIf(missing !== undefined)(
  `blocks of commands in pages${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    const test = useService();
    let folder: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "shoal-typed-"));
      mkdirSync(join(folder, "bin"));
      const program = (name: string, command: string) => {
        writeFileSync(join(folder, "bin", name), `#!/bin/sh\nexec ${command} "$@"\n`);
        chmodSync(join(folder, "bin", name), 0o755);
      };
      program("shoal", `"${process.execPath}" "${builtCommand}"`);
      // A refused request fails the test.
      program("curl", "/usr/bin/curl --silent --show-error --fail-with-body");
    });
    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    afterEach(async () => {
      const { items } = await test.shoal.browsers.list();
      for (const { session_id } of items) await test.shoal.browsers.delete(session_id);
    });

    /** Types each command in a new folder, in one shell. */
    async function type(commands: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
      const cwd = mkdtempSync(join(folder, "run-"));
      symlinkSync(join(folder, "bin/shoal"), join(cwd, "shoal"));
      const { apiKey, baseUrl } = test.service;
      const script = commands.join("\n").replaceAll("http://127.0.0.1:7777", baseUrl);
      const { stderr, stdout } = await run("sh", ["-euc", script], {
        cwd,
        env: {
          HOME: cwd,
          PATH: `${join(folder, "bin")}:${process.env.PATH ?? ""}`,
          NO_COLOR: "1",
          SHOAL_KEYCHAIN: "0",
          SHOAL_CONFIG_DIR: join(cwd, "config"),
          SHOAL_API_KEY: apiKey,
          SHOAL_BASE_URL: baseUrl,
          ...env,
        },
      });
      return stdout + stderr;
    }

    async function expectToBeValid(command: string): Promise<void> {
      const problem = await type([`${command} --dry-run`], { SHOAL_SESSION: "research" }).then(
        () => undefined,
        (error: unknown) => (error as { readonly stderr: string }).stderr,
      );
      if (problem !== undefined) expect(problem, command).toContain(cannotPrint);
    }

    const named = (block: TypedBlock) => [block.title, block] as const;

    it.each(onService.map(named))("%s runs", async (_title, { before, commands }) => {
      await type([...before, ...commands.filter((command) => !isTriedElsewhere(command) && !needsDryRun(command))]);
      for (const command of commands.filter(needsDryRun)) if (isShoal(command)) await expectToBeValid(command);
    });

    it.each(onSites.map(named))("%s has valid commands of shoal", async (_title, { commands }) => {
      for (const command of commands.filter(isShoal)) await expectToBeValid(command);
    });
  },
);

const services = blocks.flatMap(({ commands }) =>
  commands.filter((command) => /^(?:\.\/)?shoal serve --/.test(command)),
);

it.each([...new Set(services)])("%s has valid settings", (command) => {
  const given = [...command.matchAll(/ --([\w-]+) ('[^']*'|\S+)/g)];
  const flags = Object.fromEntries(given.map(([, name = "", value = ""]) => [name, value.replaceAll("'", "")]));
  const env = { SHOAL_BLOB_STORE_ACCESS_KEY: "access", SHOAL_BLOB_STORE_SECRET_KEY: "secret" };
  expect(() => loadConfig({ flags, env, cwd: import.meta.dirname })).not.toThrow();
});
