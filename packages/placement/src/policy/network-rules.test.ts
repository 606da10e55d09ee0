import fc from "fast-check";
import { expect, it } from "vitest";
import type { EgressRules, RuleSource } from "../interface/egress.ts";
import { createEgressPolicy, type EgressDecision, type ResolveName } from "./egress-policy.ts";
import { NetworkRules } from "./network-rules.ts";

const names: Readonly<Record<string, readonly string[]>> = {
  "example.com": ["93.184.215.14", "2606:4700::14"],
  "www.example.com": ["93.184.215.15"],
  "intranet.example": ["10.1.2.3"],
  "nat64.example": ["64:ff9b::5db8:d70e"],
  "xn--bcher-kva.example": ["8.8.4.4"],
};
let lookedUp: string[] = [];
const resolveName: ResolveName = async (name) => {
  lookedUp.push(name);
  return (names[name] ?? ["9.9.9.9"]).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};

interface Asked {
  readonly port?: number;
  readonly isProxied?: boolean;
  readonly project?: EgressRules;
  readonly allowPrivateHosts?: readonly string[];
}

async function decide(
  host: string,
  session: EgressRules,
  { port = 443, isProxied = false, project, allowPrivateHosts = [] }: Asked = {},
): Promise<EgressDecision> {
  lookedUp = [];
  const sources: (readonly [RuleSource, EgressRules])[] = [["session", session]];
  if (project !== undefined) sources.push(["project", project]);
  return createEgressPolicy(allowPrivateHosts, resolveName)
    .ruledBy(new NetworkRules(new Map(sources)))
    .decide(host, port, isProxied);
}

async function isAllowed(...asked: Parameters<typeof decide>): Promise<boolean> {
  return (await decide(...asked)).allowed;
}

it.each<[string, EgressRules]>([
  ["example.com", {}],
  ["example.com", { deny: [] }],
  ["example.com", { allow: ["example.com"] }],
  ["EXAMPLE.com.", { allow: ["example.com:443"] }],
  ["www.example.com", { allow: ["*.example.com"] }],
  ["a.b.www.example.com", { allow: ["*.example.com"] }],
  ["bücher.example", { allow: ["BÜCHER.example"] }],
  ["example.com", { allow: ["*:443"] }],
  ["example.com", { allow: ["93.184.0.0/16"] }],
  ["93.184.215.14", { allow: ["93.184.0.0/16"] }],
  ["[2606:4700::1]", { allow: ["2606:4700::/32"] }],
  ["[::ffff:93.184.215.14]", { allow: ["93.184.215.14"] }],
  ["1572394766", { allow: ["93.184.215.14"] }],
  ["nat64.example", { allow: ["93.184.0.0/16"] }],
  ["example.com", { deny: ["www.example.com", "*.example.com", "example.com:80", "10.0.0.0/8"] }],
])("allows %s with %j", async (host, rules) => {
  expect(await decide(host, rules)).toMatchObject({ allowed: true });
});

it.each<[string, EgressRules]>([
  ["example.com", { allow: [] }],
  ["example.com", { allow: ["*.example.com"] }],
  ["notexample.com", { allow: ["*.example.com", "example.com"] }],
  ["example.com.evil.example", { allow: ["example.com"] }],
  ["example.com", { allow: ["example.com:80"] }],
  ["example.com", { allow: ["example.com"], deny: ["example.com"] }],
  ["example.com", { allow: ["example.com"], deny: ["*"] }],
  ["Example.COM..", { deny: ["example.com"] }],
  ["www.example.com", { deny: ["*.example.com"] }],
  ["example.com", { deny: ["93.184.0.0/16", "2606:4700::/32"] }],
  ["93.184.215.14", { deny: ["93.184.0.0/16"] }],
  ["0x5d.184.215.14", { deny: ["93.184.215.14"] }],
  ["[::ffff:5db8:d70e]", { deny: ["93.184.215.14"] }],
  ["[64:ff9b::5db8:d70e]", { deny: ["93.184.215.14"] }],
  ["93.184.215.14", { allow: ["example.com"] }],
  ["[2606:4700::1]", { allow: ["0.0.0.0/0"] }],
  ["bücher.example", { deny: ["xn--bcher-kva.example"] }],
  ["ｅxample.com", { deny: ["example.com"] }],
])("refuses %s with %j", async (host, rules) => {
  expect(await decide(host, rules)).toMatchObject({ allowed: false, status: 403, refusal: { source: "session" } });
});

it("connects only to the addresses that the rules allow", async () => {
  expect(await decide("example.com", { deny: ["2606::/16"] })).toEqual({
    allowed: true,
    addresses: [{ address: "93.184.215.14", family: 4 }],
  });
});

it("looks up no name that the rules refuse by name", async () => {
  await decide("secret.evil.example", { allow: ["example.com"] });
  expect(lookedUp).toEqual([]);
  await decide("secret.evil.example", { deny: ["*.evil.example"] });
  expect(lookedUp).toEqual([]);
});

it("opens no private host", async () => {
  expect(await decide("intranet.example", { allow: ["*", "10.0.0.0/8"] })).toMatchObject({
    allowed: false,
    message: expect.stringMatching(/10\.1\.2\.3 is a private network/) as unknown,
  });
  const allowPrivateHosts = ["10.0.0.0/8"];
  expect(await isAllowed("intranet.example", { allow: ["10.0.0.0/8"] }, { allowPrivateHosts })).toBe(true);
  expect(await isAllowed("intranet.example", { deny: ["10.0.0.0/8"] }, { allowPrivateHosts })).toBe(false);
});

it("allows a name by a range only if no proxy resolves it, and denies it if one of its addresses is denied", async () => {
  const isProxied = true;
  expect(await isAllowed("example.com", { allow: ["93.184.0.0/16"] }, { isProxied })).toBe(false);
  expect(await isAllowed("93.184.215.14", { allow: ["93.184.0.0/16"] }, { isProxied })).toBe(true);
  expect(await isAllowed("example.com", { allow: ["example.com"] }, { isProxied })).toBe(true);
  expect(await isAllowed("example.com", { deny: ["2606::/16"] }, { isProxied })).toBe(false);
});

it("names the rule, its owner and the next step", async () => {
  const messageOf = async (...asked: Parameters<typeof decide>) => {
    const decision = await decide(...asked);
    return decision.allowed ? "" : decision.message;
  };
  expect(await messageOf("www.example.com", { deny: ["*.example.com"] })).toBe(
    "Pages may not reach www.example.com:443: the rule *.example.com in network.deny of this session refuses it. The owner of the session can change its rules with browsers.update.\n",
  );
  expect(await messageOf("[2606:4700::1]", {}, { project: { allow: ["example.com"] } })).toBe(
    "Pages may not reach [2606:4700::1]:443: network.allow of this project does not contain it. A key of the organization can change the project's rules with projects.update.\n",
  );
});

const entries = fc.constantFrom(
  "example.com",
  "*.example.com",
  "*",
  "93.184.0.0/16",
  "10.0.0.0/8",
  "9.9.9.9:80",
  "*:443",
);
const lists: fc.Arbitrary<EgressRules> = fc.record(
  { allow: fc.array(entries, { maxLength: 4 }), deny: fc.array(entries, { maxLength: 4 }) },
  { requiredKeys: [] },
);
const hosts = fc.constantFrom(
  "example.com",
  "www.example.com",
  "intranet.example",
  "9.9.9.9",
  "93.184.215.14",
  "other.example",
);

it("lets a session narrow its project's rules, and never widen them", async () => {
  await fc.assert(
    fc.asyncProperty(hosts, fc.constantFrom(80, 443), lists, lists, async (host, port, session, project) => {
      const [both, alone] = [await decide(host, session, { port, project }), await decide(host, project, { port })];
      if (!both.allowed) return;
      expect(alone.allowed).toBe(true);
      expect(
        alone.allowed &&
          both.addresses.every((address) => alone.addresses.some((each) => each.address === address.address)),
      ).toBe(true);
    }),
  );
});

it("refuses more with each entry of deny, and less with each entry of allow", async () => {
  await fc.assert(
    fc.asyncProperty(hosts, lists, entries, async (host, rules, entry) => {
      const before = await isAllowed(host, rules);
      if (!before) expect(await isAllowed(host, { ...rules, deny: [...(rules.deny ?? []), entry] })).toBe(false);
      if (before && rules.allow !== undefined)
        expect(await isAllowed(host, { ...rules, allow: [...rules.allow, entry] })).toBe(true);
    }),
  );
});

it("refuses an open connection if one of its addresses is refused", () => {
  const rules = new NetworkRules(new Map([["session", { deny: ["10.0.0.0/8", "*.example.com"] }]]));
  const check = (hostname: string, addresses?: readonly string[]) =>
    rules.refuseConnection({ hostname, port: 443 }, addresses) !== undefined;
  expect(check("example.com", ["93.184.215.14"])).toBe(false);
  expect(check("example.com", ["93.184.215.14", "10.0.0.1"])).toBe(true);
  expect(check("www.example.com")).toBe(true);
  expect(check("[::ffff:10.0.0.1]")).toBe(true);
});
