import { describe, expect, it } from "vitest";
import { allOf } from "../testing/all-of.ts";
import { codeOf } from "../testing/refusal.ts";
import type { ServiceUnderTest } from "./open-service.ts";

export function describeAuthConnections(test: ServiceUnderTest): void {
  const create = (change: Partial<Parameters<typeof test.shoal.auth.connections.create>[0]> = {}) =>
    test.shoal.auth.connections.create({ domain: "example.com", profile_name: test.unique("shopper"), ...change });

  describe("connections of profiles to sites", () => {
    it("are created with a new profile, found, and deleted without it", async () => {
      const { auth, profiles } = test.shoal;
      const profile_name = test.unique("shopper");
      const made = await create({ profile_name, domain: "Login.Example.COM", allowed_domains: ["*.SSO.example"] });
      expect(made).toMatchObject({
        id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as unknown,
        profile_name,
        domain: "login.example.com",
        allowed_domains: ["*.sso.example"],
        status: "NEEDS_AUTH",
        can_reauth: false,
        can_reauth_reason: "no_prior_successful_login",
        health_check_interval: 3600,
        health_checks: true,
        auto_reauth: true,
        save_credentials: true,
        record_session: false,
        browser_telemetry: null,
      });
      expect(await auth.connections.get(made.id)).toEqual(made);
      expect((await auth.connections.timeline(made.id)).items).toEqual([]);
      expect(await codeOf(profiles.delete(profile_name))).toBe("409 profile_in_use");
      await auth.connections.delete(made.id);
      for (const call of [
        () => auth.connections.get(made.id),
        () => auth.connections.update(made.id, { auto_reauth: false }),
        () => auth.connections.delete(made.id),
        () => auth.connections.timeline(made.id),
      ])
        expect(await codeOf(call())).toBe("404 not_found");
      await profiles.delete(profile_name);
    });

    it("exist once for each profile and site", async () => {
      const first = await create();
      const { profile_name } = first;
      const again = await test.send("POST", "/auth/connections", { body: { profile_name, domain: "EXAMPLE.com" } });
      expect(again).toMatchObject({ status: 409, body: { code: "conflict", existing_id: first.id } });
      expect((await create({ profile_name, domain: "example.org" })).profile_name).toBe(profile_name);
    });

    it("refuse references to absent objects without creating the profile", async () => {
      const profile_name = test.unique("never");
      for (const credential of [
        { name: "absent" },
        { provider: "absent", auto: true },
        { provider: "absent", path: "a/b" },
      ])
        expect(await codeOf(create({ profile_name, credential }))).toBe("404 not_found");
      expect(await codeOf(create({ profile_name, domain: "https://example.com" }))).toBe("400 bad_request");
      expect(await codeOf(create({ profile_name, allowed_domains: ["a b"] }))).toBe("400 bad_request");
      expect(await codeOf(test.shoal.profiles.get(profile_name))).toBe("404 not_found");
    });

    it("change only the given fields", async () => {
      const { auth } = test.shoal;
      const made = await create({ login_url: "https://example.com/login", allowed_domains: ["sso.example"] });
      const changed = await auth.connections.update(made.id, { login_url: "", health_check_interval: 600 });
      const { login_url: _login, ...rest } = made;
      expect(changed).toEqual({ ...rest, health_check_interval: 600 });
      expect(await auth.connections.update(made.id, { allowed_domains: [], save_credentials: false })).toEqual({
        ...changed,
        allowed_domains: [],
        save_credentials: false,
      });
    });

    it("can be checked at any time, and refuse an interval below the limit", async () => {
      const { connections } = test.shoal.auth;
      const made = await create();
      const refused = await test.send("PATCH", `/auth/connections/${made.id}`, {
        body: { health_check_interval: 299 },
      });
      expect(refused).toMatchObject({
        status: 400,
        body: { code: "bad_request", field: "body.health_check_interval", limit: 300 },
      });
      expect(await codeOf(create({ health_check_interval: 10 }))).toBe("400 bad_request");
      const started = await test.send("POST", `/auth/connections/${made.id}/check`);
      expect(started).toMatchObject({ status: 202, body: { type: "health_check", previous_status: "NEEDS_AUTH" } });
      expect(await codeOf(connections.check(test.unique("absent")))).toBe("404 not_found");
      await connections.delete(made.id);
    });

    it("lose a credential that is deleted", async () => {
      const { auth, credentials } = test.shoal;
      const { name } = await credentials.create({ name: test.unique("login"), domain: "example.com", values: {} });
      const made = await create({ credential: { name } });
      expect(made.credential).toEqual({ name });
      await credentials.delete(name);
      expect(await auth.connections.get(made.id)).not.toHaveProperty("credential");
    });

    it("run one login at a time, which ends when it is cancelled", async () => {
      const { connections } = test.shoal.auth;
      const { id } = await create({ domain: "login.invalid" });
      const followed = async () => {
        const statuses: string[] = [];
        for await (const event of connections.follow(id))
          if (event.event === "managed_auth_state") statuses.push(event.flow_status);
        return statuses;
      };
      const submitted = () => connections.submit(id, { fields: { username: "ada" } });
      expect(await codeOf(submitted())).toBe("404 not_found");
      expect(await codeOf(followed())).toBe("404 not_found");
      await connections.cancel(id);

      const started = await connections.login(id);
      expect(started).toMatchObject({
        id,
        flow_type: "LOGIN",
        hosted_url: expect.stringContaining(`/auth/sign-in/${id}?code=`) as unknown,
      });
      expect(await codeOf(connections.login(id))).toBe("409 conflict");
      const statuses = followed();
      await connections.cancel(id);
      expect((await statuses).at(-1)).toBe("CANCELED");
      expect(await connections.get(id)).toMatchObject({
        status: "NEEDS_AUTH",
        flow_status: "CANCELED",
        flow_step: "COMPLETED",
        flow_expires_at: null,
      });
      expect((await connections.timeline(id)).items).toMatchObject([
        { type: "login", status: "CANCELED", step: "COMPLETED" },
      ]);
      expect(await codeOf(submitted())).toBe("404 not_found");
      expect(await codeOf(connections.exchange(id, { code: started.handoff_code ?? "" }))).toBe("410 link_expired");
      expect(await codeOf(connections.exchange(id, { code: "wrong" }))).toBe("404 not_found");
      await connections.delete(id);
    });

    it("are listed newest first, by site, by profile and by text", async () => {
      const { connections } = test.shoal.auth;
      const domain = `${test.unique("shop")}.example`;
      const made = [await create({ domain }), await create({ domain }), await create({ domain: `www.${domain}` })];
      const ids = made.map(({ id }) => id);
      const listed = async (query: Parameters<typeof connections.list>[0]) =>
        (await allOf(await connections.list(query))).map(({ id }) => id);
      expect(await listed({ domain: domain.toUpperCase(), limit: 1 })).toEqual([ids[1], ids[0]]);
      expect(await listed({ profile_name: made[0]?.profile_name ?? "" })).toEqual([ids[0]]);
      expect(await listed({ query: domain.toUpperCase() })).toEqual(ids.toReversed());
      expect(await listed({ query: made[1]?.profile_name.toUpperCase() ?? "" })).toContain(ids[1]);
      expect(await listed({ query: ids[2] ?? "" })).toEqual([ids[2]]);
    });
  });
}
