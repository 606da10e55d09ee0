import { readTotp, totpCode } from "@shoal/primitives/totp";
import { eventuallyPasses } from "@shoal/testkit";
import { ApiError, Shoal, type ManagedAuthEvent, type ManagedAuthStateEvent, type ShoalOptions } from "@shoal/client";
import { type FakeShoal, type FakeSite, startFakeShoal } from "@shoal/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { defaultSite } from "./sites.ts";

const domain = "example.com";
let fake: FakeShoal;
/** Of the present test: a reset for each one would start the service as often. */
let project = "";
beforeAll(async () => {
  fake = await startFakeShoal();
});
beforeEach(async ({ task }) => {
  fake.addSite(domain, defaultSite);
  project = (await client(fake.apiKey).projects.create({ name: task.id })).id;
});
afterAll(() => fake.close());

interface Started {
  readonly connections: Shoal["auth"]["connections"];
  readonly shoal: Shoal;
  readonly id: string;
}

const client = (apiKey: string, options: ShoalOptions = {}): Shoal =>
  new Shoal({ apiKey, baseUrl: fake.baseUrl, maxRetries: 0, ...options });

async function start(site?: FakeSite, change: { readonly credential?: { name: string } } = {}): Promise<Started> {
  const shoal = client(fake.apiKey, { project });
  if (site !== undefined) fake.addSite(domain, site);
  if (change.credential !== undefined)
    await shoal.credentials.create({
      ...change.credential,
      domain,
      values: { email: "ada@example.com", password: "secret" },
      totp_secret: "JBSWY3DPEHPK3PXP",
    });
  const { connections } = shoal.auth;
  const { id } = await connections.create({ domain, profile_name: "shop", ...change });
  return { shoal, connections, id };
}

const isState = (event: ManagedAuthEvent): event is ManagedAuthStateEvent => event.event === "managed_auth_state";

/** Follows a login, and answers each question with the next answer. @returns the states. */
async function follow({ connections, id }: Started, ...answers: readonly (Answer | (() => void))[]) {
  const states: ManagedAuthStateEvent[] = [];
  const left = [...answers];
  for await (const event of connections.follow(id)) {
    if (!isState(event)) continue;
    states.push(event);
    if (!event.flow_step.startsWith("AWAITING")) continue;
    const answer = left.shift();
    if (answer === undefined) throw new Error(`No answer to ${JSON.stringify(event)}`);
    if (typeof answer === "function") answer();
    else await connections.submit(id, { ...answer, interaction_id: event.interaction_id ?? "" });
  }
  return states;
}
type Answer = Parameters<Started["connections"]["submit"]>[1];

/** Without the first step, which may be over when the stream begins. */
const stepsOf = (states: readonly ManagedAuthStateEvent[]) =>
  states.map(({ flow_step }) => flow_step).filter((step) => step !== "DISCOVERING");
const codeOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  return ApiError.isInstance(error) ? `${String(error.status)} ${error.code}` : error;
};

describe("a login of the fake", () => {
  it("requires a user name and a password, and keeps them as the connection's credential", async () => {
    const started = await start();
    const { connections, id, shoal } = started;
    const begun = await connections.login(id);
    expect(begun).toMatchObject({ id, flow_type: "LOGIN", hosted_url: expect.stringMatching(/^http/) as unknown });
    const states = await follow(started, { field_values: { username: "ada", password: "secret" } });
    expect(stepsOf(states)).toEqual(["AWAITING_INPUT", "SUBMITTING", "COMPLETED"]);
    expect(states.find(({ flow_step }) => flow_step === "AWAITING_INPUT")).toMatchObject({
      fields: [
        { id: "username", type: "identifier", reason: "missing", label: "Username" },
        { id: "password", type: "password", reason: "missing", label: "Password" },
      ],
      discovered_fields: [{ name: "username" }, { name: "password" }],
    });
    expect(states.at(-1)).toMatchObject({ flow_status: "SUCCESS", post_login_url: "https://example.com/" });
    expect(await connections.get(id)).toMatchObject({
      status: "AUTHENTICATED",
      flow_status: "SUCCESS",
      can_reauth: true,
      credential: { name: "shop-example.com" },
    });
    expect((await shoal.credentials.get("shop-example.com")).value_keys).toEqual(["password", "username"]);
    expect((await connections.timeline(id)).items).toMatchObject([
      { type: "login", status: "SUCCESS", step: "COMPLETED" },
    ]);
    await connections.login(id);
    expect(stepsOf(await follow(started))).toEqual(["COMPLETED"]);
  });

  it("is found by a check when it has expired", async () => {
    const started = await start();
    const { connections, id } = started;
    await connections.login(id);
    await expect(connections.check(id)).rejects.toMatchObject({ status: 409 });
    await follow(started, { field_values: { username: "ada", password: "secret" } });
    expect(await connections.check(id, { wait_seconds: 60 })).toMatchObject({
      type: "health_check",
      status: "AUTHENTICATED",
    });
    fake.expireLogin(id);
    const check = await connections.check(id, { wait_seconds: 60 });
    expect(check).toMatchObject({ status: "NEEDS_AUTH", previous_status: "AUTHENTICATED" });
    const { items } = await connections.timeline(id, { type: "health_check" });
    expect(items.map(({ status }) => status)).toEqual(["NEEDS_AUTH", "AUTHENTICATED"]);
    // The service signs in again alone, with the credential that it kept.
    await eventuallyPasses(async () => {
      expect((await connections.get(id)).status).toBe("AUTHENTICATED");
    });
    expect(() => {
      fake.expireLogin("absent");
    }).toThrow(TypeError);
  });

  it("uses stored values and one-time codes without a person", async () => {
    const asked: unknown[] = [];
    const startedAt = Date.now();
    const started = await start(
      async (login) => {
        asked.push((await login.ask({ fields: ["username", "password"] })).values);
        asked.push((await login.ask({ fields: ["otp"] })).values.otp);
        return "https://example.com/home";
      },
      { credential: { name: "shop" } },
    );
    await started.connections.login(started.id);
    expect((await follow(started)).at(-1)).toMatchObject({ post_login_url: "https://example.com/home" });
    const totp = readTotp("JBSWY3DPEHPK3PXP");
    if ("problem" in totp) throw new Error(totp.problem);
    const codes: string[] = [];
    for (let at = startedAt; at < Date.now() + 30_000; at += 30_000) codes.push(totpCode(totp, new Date(at)).code);
    expect(asked).toEqual([{ username: "ada@example.com", password: "secret" }, expect.toBeOneOf(codes)]);
  });

  it("asks again with the site's words, offers choices, and waits for actions elsewhere", async () => {
    const started = await start(async (login) => {
      let { values } = await login.ask({ fields: ["email", "password"] });
      while (values.password !== "right")
        ({ values } = await login.ask({ fields: ["password"], refused: "Wrong password." }));
      const choices = [
        { id: "sms", type: "mfa_method", label: "Text me", factor: "sms", target: "•••-44" },
        { id: "push", type: "mfa_method", label: "Use the app", factor: "push" },
      ];
      const { choice } = await login.ask({ choices });
      if (choice === "push") await login.ask({ external: "Tap 42 on your phone." });
      return undefined;
    });
    const { connections, id } = started;
    await connections.login(id);
    const states = await follow(
      started,
      { field_values: { email: "a@b.c", password: "wrong" } },
      { fields: { password: "right" } },
      { mfa_option_id: "push" },
      () => {
        fake.completeAction(id);
      },
    );
    expect(states.filter(({ flow_step }) => flow_step.startsWith("AWAITING"))).toMatchObject([
      { fields: [{ id: "email" }, { id: "password" }] },
      { website_error: "Wrong password.", fields: [{ id: "password", reason: "rejected", hint: "Wrong password." }] },
      { choices: [{ id: "sms", masked_destination: "•••-44" }, { id: "push" }], mfa_options: [{}, {}] },
      { flow_step: "AWAITING_EXTERNAL_ACTION", external_action_message: "Tap 42 on your phone." },
    ]);
    expect(states.at(-1)?.flow_status).toBe("SUCCESS");
  });

  it("fails when the site refuses stored values", async () => {
    const started = await start(
      async (login) => {
        await login.ask({ fields: ["username", "password"] });
        await login.ask({ fields: ["password"], refused: "Wrong password." });
        return undefined;
      },
      { credential: { name: "shop" } },
    );
    await started.connections.login(started.id);
    expect((await follow(started)).at(-1)).toMatchObject({
      flow_status: "FAILED",
      error_code: "credentials_invalid",
      website_error: "Wrong password.",
    });
    expect(await started.connections.get(started.id)).toMatchObject({ status: "NEEDS_AUTH", flow_status: "FAILED" });
  });

  it("ends as the site says, and fails when the site throws", async () => {
    let isBroken = false;
    const started = await start((login) => {
      if (isBroken) throw new Error("Broken site.");
      return login.fail("bot_detected", "The site blocks this browser.");
    });
    await started.connections.login(started.id);
    expect((await follow(started)).at(-1)).toMatchObject({
      error_code: "bot_detected",
      error_message: "The site blocks this browser.",
    });
    isBroken = true;
    await started.connections.login(started.id);
    expect((await follow(started)).at(-1)).toMatchObject({ error_code: "flow_failed", error_message: "Broken site." });
  });

  it("refuses a second login, late answers, repeated answers and answers to other questions", async () => {
    const started = await start();
    const { connections, id } = started;
    const values = { field_values: { username: "a", password: "b" } };
    expect(await codeOf(connections.submit(id, values))).toBe("404 not_found");
    await connections.login(id);
    expect(await codeOf(connections.login(id))).toBe("409 conflict");
    await eventuallyPasses(async () => {
      expect((await connections.get(id)).flow_step).toBe("AWAITING_INPUT");
    });
    const { interaction_id: question = "" } = await connections.get(id);
    for (const wrong of [
      { field_values: { username: "a" } },
      { field_values: { username: "a", password: "b", pin: "c" } },
      { selected_choice_id: "sms" },
    ])
      expect(await codeOf(connections.submit(id, wrong))).toBe("422 bad_request");
    const late = connections.submit(id, { ...values, interaction_id: "earlier" });
    expect(await codeOf(late)).toBe("400 stale_interaction");
    const answers = [0, 1, 2].map(() => connections.submit(id, { ...values, interaction_id: question }));
    const outcomes = await Promise.allSettled(answers);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await follow(started);
    expect(await codeOf(connections.submit(id, values))).toBe("404 not_found");
  });

  it("does not play a site again that fails after it has an answer", async () => {
    let plays = 0;
    const started = await start(async (login) => {
      plays += 1;
      await login.ask({ fields: ["username", "password"] });
      return login.fail("network_error");
    });
    await started.connections.login(started.id);
    const states = await follow(started, { field_values: { username: "ada", password: "secret" } });
    expect(states.at(-1)).toMatchObject({ flow_status: "FAILED", error_code: "network_error" });
    expect(plays).toBe(1);
  });

  it("is not signed in when the site accepts it after its cancellation", async () => {
    const accepted = Promise.withResolvers<undefined>();
    const started = await start(async (login) => {
      await login.ask({ fields: ["username"] }).catch(() => undefined);
      accepted.resolve(undefined);
      return undefined;
    });
    const { connections, id } = started;
    await connections.login(id);
    await follow(started, () => void connections.cancel(id));
    await accepted.promise;
    await connections.get(id);
    expect(() => {
      fake.expireLogin(id);
    }).toThrow(`Connection ${id} is not signed in.`);
  });

  it("ends with a cancellation, the deletion of its connection, and a reset", async () => {
    const started = await start();
    const { connections, id } = started;
    const signals: AbortSignal[] = [];
    fake.addSite(domain, async (login) => {
      signals.push(login.signal);
      await login.ask({ fields: ["username"] });
      return undefined;
    });
    await connections.login(id);
    const states = await follow(started, () => void connections.cancel(id));
    expect(states.at(-1)?.flow_status).toBe("CANCELED");
    await connections.login(id);
    await follow(started, () => void connections.delete(id));
    const { id: other } = await connections.create({ domain, profile_name: "other" });
    await connections.login(other);
    await eventuallyPasses(() => {
      expect(signals).toHaveLength(3);
    });
    await fake.reset();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect(() => {
      fake.completeAction(other);
    }).toThrow(`No login of connection ${other} waits`);
  });

  it("exchanges the code of a hosted page, twice within seconds, for a token to one connection", async () => {
    const { connections, id, shoal } = await start();
    const { id: other } = await connections.create({ domain, profile_name: "other" });
    const { handoff_code: code = "", hosted_url } = await connections.login(id);
    expect(new URL(hosted_url).searchParams.get("code")).toBe(code);
    const keyless = client("none").auth.connections;
    const { jwt } = await keyless.exchange(id, { code });
    expect(await keyless.exchange(id, { code })).toMatchObject({ jwt });
    const page = client(jwt);
    await eventuallyPasses(async () => {
      expect((await page.auth.connections.get(id)).flow_step).toBe("AWAITING_INPUT");
    });
    expect((await page.auth.connections.get(id)).hosted_url).not.toBe(hosted_url);
    for (const refused of [
      page.auth.connections.get(other),
      page.auth.connections.update(id, {}),
      page.profiles.list(),
    ])
      expect(await codeOf(refused)).toBe("401 unauthorized");
    await page.auth.connections.submit(id, { field_values: { username: "ada", password: "secret" } });
    await follow({ connections: page.auth.connections, id, shoal });
    expect(await codeOf(keyless.exchange(id, { code }))).toBe("410 link_expired");
    expect(await codeOf(keyless.exchange(id, { code: "wrong" }))).toBe("404 not_found");
  });

  it("reads values from the items of a credential provider, by path and by domain", async () => {
    const { connections, shoal } = await start();
    const provider = "company";
    const { id } = await shoal.credentialProviders.create({ provider_type: "onepassword", name: provider, token: "t" });
    const values = { username: "ada", password: "secret" };
    fake.addProviderItem(provider, { path: "Team/Example", urls: ["https://example.com"], values });
    expect((await shoal.credentialProviders.listItems(id)).items).toMatchObject([
      { title: "Example", vault_name: "Team", path: "Team/Example", urls: ["https://example.com"] },
    ]);
    for (const [profile_name, credential] of [
      ["by-path", { provider, path: "Team/Example" }],
      ["by-domain", { provider, auto: true }],
    ] as const) {
      const made = await connections.create({ domain: "login.example.com", profile_name, credential });
      expect(made.credential).toEqual(credential);
      await connections.login(made.id);
      expect(stepsOf(await follow({ connections, shoal, id: made.id }))).toEqual(["COMPLETED"]);
      expect(await connections.get(made.id)).toMatchObject({ can_reauth_reason: "external_credential", credential });
    }
    const absent = await connections.create({
      domain,
      profile_name: "absent",
      credential: { provider, path: "Team/X" },
    });
    await connections.login(absent.id);
    await follow({ connections, shoal, id: absent.id }, { field_values: values });
    expect((await connections.timeline(absent.id)).items[0]).toMatchObject({
      note: expect.stringContaining("company: It has no item at this path.") as unknown,
    });
  });
});
