import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { events, namesIn, useAnsweringService } from "../../testing/answering-service.ts";
import { deployment, log, state, timestamp } from "../../testing/app-events.ts";
import { shoalProcess } from "../../testing/shoal.ts";
import { noScript, onTerminal } from "../../testing/terminal.ts";

const withoutScript = noScript();
const service = useAnsweringService();
const { env, folder, run } = service;

describe("deploy", () => {
  const app = join(folder, "app");
  beforeAll(() => {
    for (const path of ["lib/deep", "node_modules/x", ".git", "out"]) mkdirSync(join(app, path), { recursive: true });
    const files = {
      "index.ts": "code",
      ".env.example": "A=1",
      ".gitignore": "node_modules/\n*.log\n",
      "a.log": "x",
      "lib/.gitignore": "/only-here\n",
      "lib/only-here": "x",
      "lib/deep/b.ts": "b",
      "node_modules/x/i.js": "x",
      ".git/HEAD": "x",
      "out/only-here": "kept",
    };
    for (const [path, text] of Object.entries(files)) writeFileSync(join(app, path), text);
    symlinkSync("index.ts", join(app, "link.ts"));
    writeFileSync(join(folder, "vars"), "A=file\nB='two words'\n");
  });

  it("uploads the folder of the entrypoint without ignored files, and waits until it runs", async () => {
    service.answers["deployments.create"] = () => deployment;
    service.answers["deployments.follow"] = () =>
      events(state("queued"), log("building", "build"), { event: "sse_heartbeat", timestamp }, state("running"));
    const { status, stdout, stderr } = await run(
      "deploy",
      join(app, "index.ts"),
      "--version",
      "v2",
      "--env-file",
      join(folder, "vars"),
      "--env",
      "A=flag",
      "--force",
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${timestamp}  build   building\n`,
      stderr: `Uploaded 7 files of ${app} as deployment ${deployment.id}.\nDeployment ${deployment.id} is running.\n`,
    });
    expect(service.asked[0]?.body).toMatchObject({
      version: "v2",
      entrypoint_rel_path: "index.ts",
      force: "true",
      "env_vars[A]": "flag",
      "env_vars[B]": "two words",
    });
    expect(await namesIn(service.zip)).toEqual({
      ".env.example": "A=1",
      ".gitignore": "node_modules/\n*.log\n",
      "index.ts": "code",
      "lib/.gitignore": "/only-here\n",
      "lib/deep/b.ts": "b",
      "link.ts": "link index.ts",
      "out/only-here": "kept",
    });
  });

  it("applies the .gitignore files of the repository around the folder, and the last matching rule", async () => {
    const repository = join(folder, "repository");
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(repository, path)), { recursive: true });
      writeFileSync(join(repository, path), text);
    };
    write(".git/info/exclude", "*.mine\n");
    write(".gitignore", ".env*\nnode_modules/\n/dist/\n*.json\n/apps/*/cache\n/generated/\n");
    write("apps/.gitignore", "# of all apps\n\n/shop \\[1\\]/out/\n*.tmp\n");
    const shop = "apps/shop [1]";
    const kept = [
      "index.ts",
      "config/.gitignore",
      "config/keep.json",
      "dist/a.js",
      "config/cache",
      "b.mine/sub/.gitignore",
    ];
    const ignored = [
      ".env",
      "node_modules/x/i.js",
      "a.json",
      "config/other.json",
      "cache",
      "out/a",
      "lib/b.tmp",
      "c.mine",
    ];
    for (const name of [...kept, ...ignored]) write(`${shop}/${name}`, "x");
    write(`${shop}/.gitignore`, "!b.mine/\n");
    write(`${shop}/config/.gitignore`, "!keep.json\n");
    write(`${shop}/b.mine/sub/.gitignore`, "");
    // Git's own answer, if it is installed.
    if (spawnSync("git", ["--version"]).status === 0) {
      const git = (...args: string[]) =>
        execFileSync("git", args, {
          cwd: join(repository, shop),
          encoding: "utf8",
          env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
        });
      rmSync(join(repository, ".git"), { recursive: true });
      git("init", "--quiet", repository);
      write(".git/info/exclude", "*.mine\n");
      const files = git("ls-files", "-z", "--others", "--exclude-standard").split("\0").filter(Boolean);
      expect(files.sort()).toEqual([...kept, ".gitignore"].sort());
    }
    service.answers["deployments.create"] = () => deployment;
    service.answers["deployments.follow"] = () => events(state("running"));
    expect((await run("deploy", join(repository, shop, "index.ts"))).status).toBe(0);
    expect(Object.keys(await namesIn(service.zip)).sort()).toEqual([...kept, ".gitignore"].sort());
    // A folder that the repository ignores was named, so its files are not.
    for (const name of ["index.ts", ".env", "lib/a.ts"]) write(`generated/app/${name}`, "x");
    expect((await run("deploy", join(repository, "generated/app/index.ts"))).status).toBe(0);
    expect(Object.keys(await namesIn(service.zip)).sort()).toEqual(["index.ts", "lib/a.ts"]);
  });

  it("reports why it failed and prints events as lines", async () => {
    service.answers["deployments.create"] = () => deployment;
    service.answers["deployments.follow"] = () =>
      events(log("building", "build"), state("failed", { status_reason: "no package.json." }));
    expect(await run("deploy", join(app, "index.ts"), "-q")).toEqual({
      status: 1,
      stdout: `${timestamp}  build   building\n`,
      stderr: `error: Deployment ${deployment.id} failed: no package.json.\n  Print its log with: shoal deployments follow ${deployment.id}\n`,
    });
    const lines = await run("deploy", join(app, "index.ts"), "-o", "jsonl");
    expect(
      lines.stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { event?: string }).event),
    ).toEqual([undefined, "log", "deployment_state"]);
    expect(await run("deploy", join(app, "none.ts"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("<entrypoint> must be a file") as unknown,
    });
    expect((await run("deploy", join(app, "index.ts"), "--dry-run")).stdout).toContain(
      "-F entrypoint_rel_path=index.ts",
    );
  });

  it("deploys a repository of GitHub", async () => {
    service.answers["deployments.create"] = () => deployment;
    service.answers["deployments.follow"] = () => events(log("fetching", "build"), state("running"));
    const repository = ["--url", "https://github.com/me/apps", "--ref", "main", "--entrypoint", "index.ts"];
    const { status, stdout, stderr } = await shoalProcess(
      ["deploy", "github", ...repository, "--path", "shop", "--github-token", "-", "--version", "v2", "-e", "A=1"],
      { env, input: "ghp_secret\n" },
    );
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${timestamp}  build   fetching\n`,
      stderr: `Sent https://github.com/me/apps at main as deployment ${deployment.id}.\nDeployment ${deployment.id} is running.\n`,
    });
    const { source, ...others } = service.asked[0]?.body as Record<string, string>;
    expect(JSON.parse(source ?? "")).toEqual({
      type: "github",
      url: "https://github.com/me/apps",
      ref: "main",
      entrypoint: "index.ts",
      path: "shop",
      auth: { method: "github_token", token: "ghp_secret" },
    });
    expect(others).toMatchObject({ version: "v2", "env_vars[A]": "1" });
    const dry = await run("deploy", "github", ...repository, "--github-token", "ghp_secret", "--dry-run");
    expect(dry.stdout).toContain("-F 'source={");
    expect(dry.stdout).not.toContain("ghp_secret");
    expect(await run("deploy", "github", "--url", "https://github.com/me/apps")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--ref") as unknown,
    });
  });
});

describe.skipIf(withoutScript)(
  `deploy on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    it("shows and erases its progress", async () => {
      let go: () => void = () => undefined;
      const seen = new Promise<void>((resolve) => (go = resolve));
      service.answers["deployments.create"] = () => deployment;
      service.answers["deployments.follow"] = async function* () {
        yield { id: "1", data: state("starting") };
        await seen;
        yield { id: "2", data: log("built", "build") };
        yield { id: "3", data: state("running") };
      };
      const run = onTerminal(["deploy", join(folder, "app", "index.ts"), "--no-color"], { env });
      // oxlint-disable-next-line no-control-regex -- terminal sequences start with it
      await expect.poll(() => run.screen()).toMatch(/\r\u001b\[2K[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] starting/);
      go();
      expect(await run.status).toBe(0);
      const shown = run.screen().replaceAll("\r\n", "\n").replaceAll("\u001b", "#");
      expect(shown).toContain(`\r#[2K${timestamp}  build   built\n`);
      expect(shown.endsWith(`\r#[2KDeployment ${deployment.id} is running.\n`)).toBe(true);
    });
  },
);
