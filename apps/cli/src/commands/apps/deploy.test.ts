import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
