import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServiceProcess, startService } from "../../service.ts";
import { bareEnv, noChromium, shoal } from "../../testing/shoal.ts";

describe.skipIf((await noChromium()) !== undefined)("shoal console", () => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-console-"));
  let service: ServiceProcess;
  beforeAll(async () => {
    service = await startService(folder, ["--warm", "0", "--log-level", "silent", "--max-event-loop-delay-ms", "0"]);
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    shoal(["console", ...args], {
      env: { ...bareEnv(), SHOAL_API_KEY: service.apiKey, SHOAL_BASE_URL: service.baseUrl, ...env },
    });

  it("prints a link that signs in once", async () => {
    const { status, stderr, stdout } = await run(["--print"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "This link signs in once, within 60 seconds:\n" });
    const [, code] = stdout.trim().split(`${service.baseUrl}/console/#link=`);
    const signIn = () =>
      fetch(`${service.baseUrl}/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-shoal-console": "1", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ link_code: code }),
      });
    expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 410]);
  });

  it("opens the browser without printing the link", async () => {
    const { status, stderr, stdout } = await run([], { BROWSER: "true" });
    expect({ status, stderr, stdout }).toEqual({
      status: 0,
      stderr: `Opened the console at ${service.baseUrl}\n`,
      stdout: "",
    });
  });

  it("prints the link where no browser can be opened", async () => {
    const { status, stderr, stdout } = await run([], { BROWSER: "false" });
    expect(status).toBe(0);
    expect(stderr).toContain("Cannot open a browser on this machine.");
    expect(stderr).toContain("ssh -N -L ");
    expect(stdout).toContain("/console/#link=cl_shoal_");
  });

  it("reports an invalid key", async () => {
    expect((await run(["--print"], { SHOAL_API_KEY: "sk_wrong" })).stderr).toContain("not an API key");
  });
});
