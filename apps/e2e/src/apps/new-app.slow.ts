import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";

const run = promisify(execFile);
const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");

const [{ placement, skip, title } = { placement: "sandbox", skip: true, title: "" }] = placements;

describe.skipIf(skip)(`an app of shoal init in the placement ${title}`, () => {
  const test = useService(() => ["--placement", placement]);
  const folder = mkdtempSync(join(tmpdir(), "shoal-new-app-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const env = () => ({
    ...process.env,
    HOME: folder,
    SHOAL_CONFIG_DIR: join(folder, ".config"),
    SHOAL_KEYCHAIN: "0",
    SHOAL_API_KEY: test.service.apiKey,
    SHOAL_BASE_URL: test.service.baseUrl,
    NO_COLOR: "1",
  });
  const inFolder = (cwd: string, program: string, ...args: string[]) => run(program, args, { cwd, env: env() });
  const shoal = (...args: string[]) => inFolder(folder, process.execPath, command, ...args);

  const invoked = async (name: string) => {
    const greeted = await shoal("invoke", name, "greet", "-p", '{"name":"Ada"}');
    const page = JSON.stringify({ url: "data:text/html,<title>a page</title>" });
    const titled = await shoal("invoke", name, "title", "-p", page);
    return { greeted: greeted.stdout, titled: titled.stdout };
  };
  const works = {
    greeted: expect.stringContaining("Hello, Ada") as unknown,
    titled: expect.stringContaining("a page") as unknown,
  };

  it.each([
    ["typescript", "index.ts"],
    ["python", "main.py"],
  ])("is deployed from %s as it was written, and invoked", async (template, entry) => {
    await shoal("init", template, "--template", template);
    await shoal("deploy", join(template, entry));
    expect(await invoked(template)).toEqual(works);
  });

  it.each([
    ["npm", ["install"], "package-lock.json"],
    ["pnpm", ["install"], "pnpm-lock.yaml"],
  ] as const)(
    "is installed by %s on the machine of its author, checked, and deployed with the lockfile",
    async (tool, args, lockfile) => {
      const path = join(folder, `with-${tool}`);
      await shoal("init", path, "--template", "typescript");
      await inFolder(path, tool, ...args);
      expect(readFileSync(join(path, lockfile), "utf8")).toContain("@shoal/client");
      await inFolder(path, process.execPath, "--input-type=module", "-e", "import '@shoal/client/app'");
      await shoal("deploy", join(path, "index.ts"));
      expect(await invoked(`with-${tool}`)).toEqual(works);
    },
  );
});
