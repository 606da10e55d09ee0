import { type Browser, Shoal } from "@shoal/client";
import { contract, type Endpoint } from "@shoal/contract";
import { request } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { addProject } from "../testing/projects.ts";
import { codeOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";

const endpoints: readonly Endpoint[] = Object.values(contract);
const missing = missingFor("process");
const anywhere = missingFor("sandbox") === undefined ? "sandbox" : "process";

/** apps/server tests every operation; here, operations on a single object run against the built service. */
const onObjects: Readonly<Record<string, { readonly object: "profile" | "key" | "session"; readonly body?: unknown }>> =
  {
    "profiles.get": { object: "profile" },
    "profiles.update": { object: "profile", body: { name: "stolen" } },
    "profiles.delete": { object: "profile" },
    "apiKeys.get": { object: "key" },
    "apiKeys.update": { object: "key", body: { name: "stolen" } },
    "apiKeys.delete": { object: "key" },
    "apiKeys.rotate": { object: "key", body: {} },
    "browsers.get": { object: "session" },
    "browsers.update": { object: "session", body: { name: "stolen" } },
    "browsers.delete": { object: "session" },
    "browsers.telemetry.events": { object: "session" },
    "browsers.telemetry.lastPicture": { object: "session" },
    "browsers.evidence": { object: "session" },
  };
/** Operations that also find ended objects. */
const findsEnded = new Set(["apiKeys.get", "browsers.get"]);

interface Described {
  readonly operationId?: string;
  readonly responses?: Readonly<Record<string, unknown>>;
}

/** Tries to open a WebSocket. @returns the status, 101 on success. */
async function upgradeStatus(url: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const attempt = request(url.replace(/^ws/, "http"), {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    attempt.once("upgrade", (_answer, socket) => {
      socket.destroy();
      resolve(101);
    });
    attempt.once("response", (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    attempt.once("error", reject);
    attempt.end();
  });
}

/** Each operation once, with everything that holds for it in any placement. */
describe("every operation", () => {
  const test = useService(() => ["--placement", anywhere]);
  let paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  let owner: Awaited<ReturnType<typeof addProject>>;
  let stranger: Awaited<ReturnType<typeof addProject>>;
  let session: Browser;
  let ids: Record<"profile" | "key" | "session", string>;
  beforeAll(async () => {
    ({ paths } = (await new Shoal({ baseUrl: test.service.baseUrl, apiKey: "none" }).service.openapi()) as {
      paths: typeof paths;
    });
    [owner, stranger] = await Promise.all([addProject(test, "owner"), addProject(test, "stranger")]);
    ids = {
      session: "",
      profile: (await owner.shoal.profiles.create({ name: "precious" })).id,
      key: (await owner.shoal.apiKeys.create({ name: "precious" })).id,
    };
    if (missing !== undefined) return;
    session = await owner.shoal.browsers.create({ name: "precious", timeout_seconds: 600, tags: { team: "precious" } });
    await owner.shoal.browsers.fs.writeFile(session.session_id, "precious", { path: "/home/shoal/x" });
    ids.session = session.session_id;
  });

  async function ask(endpoint: Endpoint, path: string, key: string | undefined, body?: unknown) {
    const answer = await fetch(test.service.baseUrl + path, {
      method: endpoint.method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text };
  }

  async function isRefusedToOthers(endpoint: Endpoint): Promise<void> {
    const { object, body } = onObjects[endpoint.operationId] ?? { object: "session" };
    for (const name of endpoint.path.includes("_or_name}") ? [ids[object], "precious"] : [ids[object]]) {
      const path = endpoint.path.replace(/\{id(_or_name)?\}/, name).replace("{watch_id}", "x");
      const query =
        endpoint.plane === "instance"
          ? "?path=/home/shoal/x"
          : findsEnded.has(endpoint.operationId)
            ? "?include_deleted=true"
            : "";
      for (const [key, status, code] of [
        [stranger.key, 404, "not_found"],
        [undefined, 401, "unauthorized"],
      ] as const) {
        const answer = await ask(endpoint, path + query, key, body);
        expect([path, answer.status, JSON.parse(answer.text)]).toEqual([
          path,
          status,
          expect.objectContaining({ code }),
        ]);
      }
    }
  }

  it.each(endpoints.map((endpoint) => ({ operationId: endpoint.operationId, endpoint })))(
    "$operationId has a client method and a description, is routed, and refuses foreign keys",
    async ({ endpoint, operationId }) => {
      const method = operationId
        .split(".")
        .reduce<unknown>(
          (at, name) => (typeof at === "object" && at !== null ? Reflect.get(at, name) : undefined),
          test.shoal,
        );
      expect(method).toBeTypeOf("function");

      const described = paths[endpoint.path]?.[endpoint.method.toLowerCase()];
      expect(described).toMatchObject({ operationId, summary: endpoint.summary });
      expect(Object.keys(described?.responses ?? {})).toEqual(expect.arrayContaining(Object.keys(endpoint.responses)));

      const isPublic = endpoint.auth === "none";
      const path = endpoint.path.replaceAll(/\{\w+\}/g, "x");
      for (const key of [undefined, `sk_shoal_${"x".repeat(43)}`]) {
        const { status, text } = await ask(endpoint, path, key);
        expect([404, 405]).not.toContain(status);
        expect(status === 401).toBe(!isPublic);
        if (!isPublic) expect(JSON.parse(text)).toMatchObject({ code: "unauthorized" });
      }

      const isOnObject = endpoint.plane === "instance" || operationId in onObjects;
      const needsSession = endpoint.plane === "instance" || onObjects[operationId]?.object === "session";
      if (isOnObject && !(needsSession && missing !== undefined)) await isRefusedToOthers(endpoint);
    },
  );

  it("is in openapi.json, which has no other", () => {
    const described = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
    );
    expect(described.sort()).toEqual(endpoints.map(({ operationId }) => operationId).sort());
  });

  describe.skipIf(missing !== undefined)("of two projects", () => {
    it.each(["profiles.list", "apiKeys.list", "browsers.list"])(
      "%s does not show the other's objects",
      async (operationId) => {
        const endpoint = endpoints.find((found) => found.operationId === operationId);
        if (endpoint === undefined) throw new Error(`The contract lacks ${operationId}.`);
        const list = async (key: string, query: string) => (await ask(endpoint, endpoint.path + query, key)).text;
        for (const query of [
          "",
          "?query=precious",
          ...(operationId === "browsers.list" ? ["?status=all", "?tags[team]=precious"] : []),
        ]) {
          expect(await list(stranger.key, query)).not.toContain("precious");
          expect(await list(owner.key, query)).toContain("precious");
        }
      },
    );

    it("lets a key neither name the other project nor make keys for it", async () => {
      const intruder = new Shoal({ baseUrl: test.service.baseUrl, apiKey: stranger.key, project: owner.id });
      expect(await codeOf(intruder.profiles.list())).toBe("403 forbidden");
      expect((await codeOf(stranger.shoal.apiKeys.create({ name: "k", project_id: owner.id }))).slice(0, 3)).toMatch(
        /403|404/,
      );
      expect((await stranger.shoal.profiles.create({ name: "precious" })).name).toBe("precious");
      await using same = await stranger.shoal.browsers.create({ name: "precious" });
      expect((await stranger.shoal.browsers.get("precious")).session_id).toBe(same.session_id);
      expect(
        await upgradeStatus(session.cdp_ws_url.replace(/jwt=.*/, `jwt=${/jwt=(.*)/.exec(same.cdp_ws_url)?.[1] ?? ""}`)),
      ).toBeGreaterThanOrEqual(400);
      await stranger.shoal.profiles.delete("precious");
    });

    it("opens a session's CDP address with its own token alone", async () => {
      const without = session.cdp_ws_url.replace(/\?.*$/, "");
      for (const [url, headers] of [
        [without, {}],
        [without, { authorization: `Bearer ${stranger.key}` }],
        [`${without}?jwt=${stranger.key}`, {}],
        [`${session.cdp_ws_url}x`, {}],
        [without.replace(/\/cdp$/, "/process/some-process/attach"), {}],
        [without.replace(/\/cdp$/, "/process/some-process/attach"), { authorization: `Bearer ${stranger.key}` }],
        [`${without.replace(/\/cdp$/, "/process/some-process/attach")}?jwt=${stranger.key}`, {}],
        [session.cdp_ws_url.replace(/jwt=.../, "jwt=abc"), {}],
      ] as const) {
        expect([url, await upgradeStatus(url, headers)]).toEqual([
          url,
          expect.toSatisfy((status: number) => status === 401 || status === 403 || status === 404),
        ]);
      }
      expect(await upgradeStatus(session.cdp_ws_url)).toBe(101);
    });

    it("leaves the other's objects unchanged", async () => {
      expect((await owner.shoal.browsers.get("precious")).session_id).toBe(ids.session);
      expect((await owner.shoal.profiles.get("precious")).id).toBe(ids.profile);
      expect((await owner.shoal.apiKeys.get(ids.key)).name).toBe("precious");
      expect(await owner.shoal.browsers.fs.readText(ids.session, { path: "/home/shoal/x" })).toBe("precious");
    });
  });
});
