import { contract, type Endpoint } from "@shoal/contract";
import { KeyPolicy, type Role } from "@shoal/contract/rights";
import type { Handler, HandlerCall } from "@shoal/router";
import { expect, it } from "vitest";
import type { Access } from "./access.ts";
import { forRoles } from "./role-answers.ts";

const key = { id: "k", name: "k", project_id: null, created_by_email: "", deployment_id: null, expiresAtMs: Infinity };
const answer = {
  id: "d",
  env_vars: { TOKEN: "canary" },
  items: [{ payload: "canary", output: "canary", cdp_ws_url: "ws://canary", hosted_url: "http://canary" }],
};

const read = (() => answer) as unknown as Handler<Endpoint, Access>;

async function shownTo(caller: { readonly role?: Role; readonly deploymentId?: string }): Promise<string> {
  const handler = forRoles(contract.getDeployment, read);
  const context = { key: { ...key, deployment_id: caller.deploymentId ?? null }, role: caller.role };
  return JSON.stringify(await handler({ context } as unknown as HandlerCall<Endpoint, Access>));
}

it("shows every field to keys of people and to administrators", async () => {
  for (const caller of [{}, { role: "admin" as const }]) expect(await shownTo(caller)).toBe(JSON.stringify(answer));
});

it("shows viewers no environments, payloads, results and addresses with control", async () => {
  const shown = await shownTo({ role: "viewer" });
  expect(shown).not.toContain("canary");
  expect(shown).toContain('"id":"d"');
});

it("shows operators everything but the environments of apps", async () => {
  const shown = await shownTo({ role: "operator" });
  expect(shown).toContain('"payload":"canary"');
  expect(shown).not.toContain("TOKEN");
});

it("shows an app no environment of a deployment", async () => {
  const shown = await shownTo({ deploymentId: "other" });
  expect(shown).toContain('"cdp_ws_url":"ws://canary"');
  expect(shown).not.toContain("TOKEN");
});

it("shows the links of a login only to keys whose policy allows to start one", async () => {
  const shownWith = async (action: string) => {
    const policy = new KeyPolicy({ statements: [{ action, resource: "projects/p/*" }] });
    const grant = policy.permit(contract.getAuthConnection, "p");
    const context = { key: { ...key, policy }, projectId: "p", role: grant?.role };
    return JSON.stringify(
      await forRoles(contract.getAuthConnection, read)({ context } as unknown as HandlerCall<Endpoint, Access>),
    );
  };
  expect(await shownWith("operation:auth.connections.get")).not.toContain("http://canary");
  expect(await shownWith("operation:auth.connections.*")).toContain("http://canary");
  expect(await shownWith("role:operator")).toContain("http://canary");
});
