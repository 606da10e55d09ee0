import type { Command } from "commander";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CommandIndex, CommandSpec } from "../core/types.ts";
import { sampleCall } from "../testing/arguments.ts";
import { shoal } from "../testing/shoal.ts";
import { silentRun } from "../testing/silent-terminal.ts";
import { pathOf } from "./command-line.ts";
import { buildProgram } from "./program.ts";

const run = silentRun();
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`commands/${name}.json`, run.dist), "utf8"));
const program = buildProgram(
  { index: read("index") as CommandIndex, load: (word) => read(`of-${word}`) as CommandSpec[] },
  run,
);
program.fillAll();

const requests: string[] = [];
const service = createServer(({ method, url }, response) => {
  requests.push(`${String(method)} ${String(url)}`);
  response.writeHead(200, { "content-type": "application/json" }).end("[]");
});
const folder = mkdtempSync(join(tmpdir(), "shoal-dry-run-"));
const file = join(folder, "index.ts");
beforeAll(async () => {
  writeFileSync(file, "");
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  service.closeAllConnections();
  service.close();
  rmSync(folder, { recursive: true });
});

/** Commands that run, also those with further ones below them. */
function commandsBelow(command: Command): readonly Command[] {
  const runs = (command as unknown as { readonly _actionHandler: unknown })._actionHandler !== null;
  return [...(runs ? [command] : []), ...command.commands.flatMap(commandsBelow)];
}

function wordsOf(command: Command): readonly string[] {
  const spec = program.specFor(command);
  const words = pathOf(command).split(" ").slice(1);
  if (spec !== undefined && words.join(" ") === spec.words.join(" "))
    return sampleCall(spec, file, ({ required }) => required).args;
  const valueOf = (choices: readonly string[] | undefined) => choices?.[0] ?? file;
  return [
    ...words,
    ...command.registeredArguments.filter(({ required }) => required).map(({ argChoices }) => valueOf(argChoices)),
    ...command.options
      .filter(({ mandatory, defaultValue }) => mandatory && defaultValue === undefined)
      .flatMap(({ argChoices, long }) => [long ?? "", valueOf(argChoices)]),
  ];
}

const dryRun = async (words: readonly string[]) => {
  const { port } = service.address() as AddressInfo;
  const before = readdirSync(folder, { recursive: true });
  requests.length = 0;
  const outcome = await shoal([...words, "--dry-run"], {
    env: {
      HOME: folder,
      SHOAL_API_KEY: "sk_test_0123456789",
      SHOAL_BASE_URL: `http://127.0.0.1:${String(port)}`,
      SHOAL_CONFIG_DIR: join(folder, "config"),
      SHOAL_DATA_DIR: join(folder, "data"),
      SHOAL_KEYCHAIN: "0",
      XDG_CONFIG_HOME: join(folder, "xdg"),
    },
  });
  expect(readdirSync(folder, { recursive: true })).toEqual(before);
  return outcome;
};

/** They read the deployments that they would change. */
const reading: Readonly<Record<string, RegExp>> = { "shoal apps delete": /^GET \/deployments\?/ };

it.each(commandsBelow(program.root).map((command) => [pathOf(command), command] as const))(
  "%s sends and writes nothing with --dry-run",
  async (path, command) => {
    const { status, stderr } = await dryRun(wordsOf(command));
    const read = reading[path];
    expect(requests.filter((request) => read?.test(request) !== true)).toEqual([]);
    if (status !== 0) expect([status, stderr]).toEqual([read === undefined ? 2 : 4, expect.stringMatching(/^error: /)]);
  },
);

it.each([
  "whoami",
  "login",
  "logout",
  "contexts use work",
  "console",
  "open https://example.com/",
  "mcp",
  `dev ${file}`,
  "render https://example.com/",
  "browsers fs watch follow some-id /",
])("%s is refused with --dry-run, because it cannot print its requests", async (line) => {
  const { status, stderr, stdout } = await dryRun(line.split(" "));
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^error: Nothing was done: this command cannot print its requests\.\n/);
});

it.each(["profiles list", "api GET /profiles", "deploy rollback some-id", `deploy ${file}`, "invoke shop buy"])(
  "%s prints its request with --dry-run",
  async (line) => {
    const { status, stderr, stdout } = await dryRun(line.split(" "));
    expect([status, stderr, requests]).toEqual([0, "", []]);
    expect(stdout).toMatch(/^[A-Z]+ http/);
  },
);

it.each([
  [
    "values of credentials",
    ["credentials", "create", "--name", "shop", "--domain", "shop.example", "--value", "password=hunter2"],
  ],
  ["variables of apps", ["deploy", file, "--env", "TOKEN=hunter2"]],
])("hides %s", async (_what, words) => {
  const { stdout } = await dryRun(words);
  expect(stdout).toContain("***");
  expect(stdout).not.toContain("hunter2");
});
