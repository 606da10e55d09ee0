import type { AuthConnection } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { logins } from "../sites/logins.ts";
import { startSites, type Sites } from "../sites/start-sites.ts";
import { descendantsOf, instances, survivors } from "../testing/processes.ts";
import { runService, type TestService } from "../testing/service.ts";
import { sessionFolders } from "../testing/session-folder.ts";

const login = logins.find(({ site }) => site === "one-page") ?? expect.fail();
const kept = {
  cookies: [
    {
      name: "kept",
      value: "1",
      domain: "shop.example.com",
      path: "/",
      expires: -1,
      httpOnly: false,
      secure: false,
      sameSite: "Lax" as const,
    },
  ],
  origins: [],
};

let sites: Sites;
let proxyId: string;
let test: TestService & { end(): Promise<void> };
const start = (dataDir?: string) =>
  runService(["--allow-private-hosts", sites.privateHost], dataDir === undefined ? {} : { dataDir });
beforeAll(async () => {
  sites = await startSites();
  test = await start();
  proxyId = (await test.shoal.proxies.create(sites.proxy)).id ?? expect.fail();
});
afterAll(async () => {
  await test.end();
  await sites.close();
});

const present = (id: string) => test.shoal.auth.connections.get(id);
const inStep = (id: string, fits: (connection: AuthConnection) => boolean) =>
  eventually("the login reaches the step", async () => fits(await present(id)));
const answer = (id: string) => test.shoal.auth.connections.submit(id, { fields: { ...login.values } });
const asks = ({ interaction_id }: AuthConnection) => interaction_id !== undefined;

/** A start takes longer. Each moment of it must be survived, so that another one proves as much. */
const intoTheStartMs = 200;

/** Resolves at the moment of the kill. */
const moments: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  "its row exists": () => Promise.resolve(),
  "its browser starts": () => delay(intoTheStartMs),
  "its browser runs": (id) => inStep(id, ({ browser_session_id }) => browser_session_id != null),
  "it asks a person": (id) => inStep(id, asks),
  async "it has an answer"(id) {
    await inStep(id, asks);
    await answer(id);
  },
  async "it has sent the form"(id) {
    const before = sites.site(login.site).attempts().length;
    await inStep(id, asks);
    await answer(id);
    await eventually("the form is sent", () => sites.site(login.site).attempts().length > before);
  },
};

it.each(Object.keys(moments))(
  "a login whose server is killed when %s fails, and the next one succeeds",
  async (moment) => {
    const name = moment.replaceAll(" ", "-");
    await test.shoal.profiles.create({ name });
    await test.shoal.profiles.storageState.import(name, kept);
    sites.site(login.site).expireSessions();
    const { id } = await test.shoal.auth.connections.create({
      domain: `${login.site}.test`,
      profile_name: name,
      login_url: sites.url(login.site, login.path),
      proxy: { id: proxyId },
      health_checks: false,
      save_credentials: false,
    });
    // The login cannot end before the kill.
    const release = sites.site(login.site).hold();
    onTestFinished(release);
    await test.shoal.auth.connections.login(id);
    await moments[moment]?.(id);
    const processes = descendantsOf(test.service.pid);
    await test.service.stop("SIGKILL");
    release();
    test = await start(test.dataDir);

    const connection = await eventually("the login is over", async () => {
      const found = await present(id);
      return found.flow_status === "IN_PROGRESS" ? undefined : found;
    });
    expect(connection).toMatchObject({ flow_status: "FAILED", status: "NEEDS_AUTH", error_code: "internal_error" });
    expect((await test.shoal.profiles.storageState.get(name))?.cookies).toMatchObject(kept.cookies);
    await eventually("no process is left", () => instances(survivors(processes)).length === 0);
    await eventually("no file is left", () => sessionFolders(test.dataDir).length === 0);
    expect((await test.shoal.browsers.list()).items).toEqual([]);

    await test.shoal.auth.connections.login(id);
    await inStep(id, asks);
    await answer(id);
    await inStep(id, ({ flow_status }) => flow_status !== "IN_PROGRESS");
    expect(await present(id)).toMatchObject({ flow_status: "SUCCESS", status: "AUTHENTICATED" });
  },
);
