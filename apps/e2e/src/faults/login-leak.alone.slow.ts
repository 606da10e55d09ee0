import { eventually, eventuallyPasses } from "@shoal/testkit";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { logins } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { instances } from "../testing/processes.ts";
import { runService } from "../testing/service.ts";
import { sessionFolders } from "../testing/session-folder.ts";

/** Set the variable for a longer run by hand. */
const count = Number(process.env.SHOAL_TEST_LOGINS ?? 14);
const warmUps = 3;

const login = logins.find(({ site }) => site === "one-page") ?? expect.fail();

let sites: Sites;
let temporary: string;
let test: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  temporary = mkdtempSync(join(tmpdir(), "shoal-t-"));
  sites = await startSites();
  test = await runService(["--allow-private-hosts", sites.privateHost], {
    env: { ...process.env, TMPDIR: temporary },
  });
});
afterAll(async () => {
  await test.end();
  await sites.close();
  rmSync(temporary, { recursive: true, force: true });
});

/** Files that a login may add to. The database cleans up at its own pace. */
const files = () => ({
  temporary: readdirSync(temporary).length,
  descriptors: test.pids.flatMap((pid) => readdirSync(`/proc/${String(pid)}/fd`)).length,
  blobs: readdirSync(join(test.folder, "blobs"), { recursive: true }).length,
});

it(`leaves no processes, files or unfinished flows after ${String(count)} logins in a row`, async () => {
  const { auth, browsers, credentials, proxies } = test.shoal;
  const { id: proxyId = "" } = await proxies.create(sites.proxy);
  await credentials.create({ name: "stored", domain: `${login.site}.test`, values: { ...login.values } });
  const { id } = await auth.connections.create({
    domain: `${login.site}.test`,
    profile_name: "shop",
    login_url: sites.url(login.site, login.path),
    proxy: { id: proxyId },
    credential: { name: "stored" },
    health_checks: false,
  });
  async function signIn(): Promise<void> {
    sites.site(login.site).expireSessions();
    await auth.connections.login(id);
    for await (const event of auth.connections.follow(id)) expect(event.event).toBeDefined();
    expect(await auth.connections.get(id)).toMatchObject({ flow_status: "SUCCESS", flow_step: "COMPLETED" });
  }
  const isIdle = () =>
    eventually("nothing is left", async () => {
      const left = instances(test.processes()).length + test.dataDirs.flatMap(sessionFolders).length;
      return left === 0 && (await browsers.list()).items.length === 0;
    });

  for (let round = 0; round < warmUps; round++) await signIn();
  await isIdle();
  const before = files();
  for (let round = 0; round < count; round++) await signIn();
  await isIdle();
  const { items: versions } = await test.shoal.profiles.versions.list("shop");
  await eventuallyPasses(() => {
    const after = files();
    expect(after.temporary).toBeLessThanOrEqual(before.temporary);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + 10 * test.pids.length);
    // Earlier states of the profile stay for a rollback.
    expect(after.blobs).toBeLessThanOrEqual(before.blobs + versions.length);
  });
  let finished = 0;
  for await (const event of await auth.connections.timeline(id)) {
    expect(event).toMatchObject({ type: "login", status: "SUCCESS" });
    finished += 1;
  }
  expect(finished).toBe(count + warmUps);
});
