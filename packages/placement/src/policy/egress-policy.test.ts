import { createEgressPolicy, type EgressDecision, type ResolveName } from "./egress-policy.ts";
import fc from "fast-check";
import { expect, it } from "vitest";

const names: Readonly<Record<string, readonly string[]>> = {
  "example.com": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "intranet.example": ["10.1.2.3"],
  "mixed.example": ["10.1.2.3", "93.184.215.14"],
  "mapped.example": ["::ffff:192.168.1.1"],
  "nothing.example": [],
  "nat64.example": ["64:ff9b::5db8:d70e"],
  "nat64-private.example": ["64:ff9b::a00:1"],
};
const resolveName: ResolveName = async (name) => {
  const found = names[name];
  if (found === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
  return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};

function decide(
  host: string,
  { port = 80, allow = [] }: { port?: number; allow?: readonly string[] } = {},
): Promise<EgressDecision> {
  return createEgressPolicy(allow, resolveName).decide(host, port);
}

it.each([
  ...[
    "127.0.0.1",
    "127.255.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
  ],
  ...["224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "198.18.0.1"],
  ...[
    "[::1]",
    "::1",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[2002:7f00:1::]",
    "[2001:0:1::1]",
    "[64:ff9b::7f00:1]",
    "[fec0::1]",
  ],
  ...["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "017700000001", "%31%32%37.0.0.1"],
  ...["localhost", "LOCALHOST", "localhost.", "localhost..", "foo.localhost", "ｌｏｃａｌｈｏｓｔ", "①②⑦.0.0.1"],
  ...["intranet.example", "mapped.example", "nat64-private.example", "nothing.example"],
  ...["update.googleapis.com", "clients2.google.com", "UPDATE.googleapis.com."],
])("refuses %s", async (host) => {
  expect(await decide(host)).toMatchObject({ allowed: false, status: 403 });
});

it.each([
  "93.184.215.14",
  "8.8.8.8",
  "[2606:4700::1111]",
  "example.com",
  "EXAMPLE.com.",
  "nat64.example",
  "192.0.1.1",
  "172.32.0.1",
  "100.128.0.1",
])("allows %s", async (host) => {
  expect(await decide(host)).toMatchObject({ allowed: true });
});

it("returns only the public addresses of a name that also has private ones", async () => {
  expect(await decide("mixed.example")).toEqual({
    allowed: true,
    addresses: [{ address: "93.184.215.14", family: 4 }],
  });
});

it("judges at most 32 addresses of a name, and refuses more behind a proxy", async () => {
  const many = Array.from({ length: 5_000 }, (_none, index) =>
    index === 4_000
      ? { address: "10.0.0.1", family: 4 }
      : index % 2 === 0
        ? { address: `2606:4700::${(index + 1).toString(16)}`, family: 6 }
        : { address: `93.184.${String(index >> 8)}.${String(index & 255)}`, family: 4 },
  );
  const described: string[] = [];
  const local = {
    describe: async (address: { toString(): string }) => {
      described.push(address.toString());
      return undefined;
    },
  };
  const policy = createEgressPolicy([], async () => many, local);
  const decision = await policy.decide("many.example", 443);
  expect(decision).toEqual({
    allowed: true,
    addresses: [
      ...many.filter(({ family }) => family === 6).slice(0, 16),
      ...many.filter(({ family }) => family === 4).slice(0, 16),
    ],
  });
  expect(described).toHaveLength(32);
  expect(await policy.decide("many.example", 443, true)).toMatchObject({
    allowed: false,
    status: 403,
    because: expect.stringContaining("5000 addresses") as unknown,
  });
  expect(described).toHaveLength(32);
});

it("reports the reason and the setting that would allow the host", async () => {
  const decision = await decide("intranet.example", { port: 8080 });
  expect(decision).toMatchObject({
    message:
      "Pages may not reach intranet.example:8080: 10.1.2.3 is a private network. To allow it, run the service with --allow-private-hosts intranet.example:8080 (SHOAL_ALLOW_PRIVATE_HOSTS, allow_private_hosts in its settings).\n",
  });
  const narrowed = createEgressPolicy(["10.0.0.0/8"], resolveName).narrowed([]);
  expect(await narrowed.decide("intranet.example", 8080)).toMatchObject({
    message: expect.stringMatching(
      /add intranet.example:8080 to network.private_hosts when you create the session/,
    ) as unknown,
  });
});

it("distinguishes unknown names and invalid hosts from private ones", async () => {
  expect(await decide("unknown.example")).toMatchObject({
    allowed: false,
    status: 502,
    message: expect.stringContaining("ENOTFOUND") as unknown,
  });
  for (const host of ["", "a b", "a/b", "user@example.com", "1.2.3.4.5", "a".repeat(300), "[::1", "exa:mple"])
    expect(await decide(host)).toMatchObject({ allowed: false, status: 400 });
});

it.each([
  [["localhost:3000"], "localhost", 3000],
  [["localhost"], "LOCALHOST.", 1],
  [["127.0.0.1:3000"], "localhost", 3000],
  [["127.0.0.1"], "2130706433", 80],
  [["[::1]:3000"], "[::1]", 3000],
  [["::1"], "[::1]", 80],
  [["10.0.0.0/8"], "intranet.example", 80],
  [["10.0.0.0/8:80"], "10.9.9.9", 80],
  [["::ffff:10.0.0.0/104"], "10.9.9.9", 80],
  [["intranet.example"], "intranet.example", 80],
  [["*.example"], "intranet.example", 80],
  [["fd00::/8"], "[fd12::1]", 80],
  [["0.0.0.0/0", "::/0"], "[::1]", 80],
])("with %j allows %s:%i", async (allow, host, port) => {
  expect(await decide(host, { port, allow })).toMatchObject({ allowed: true });
});

it.each([
  [["localhost:3000"], "localhost", 3001],
  [["localhost"], "127.0.0.1", 80],
  [["127.0.0.1:3000"], "127.0.0.2", 3000],
  [["10.0.0.0/8"], "192.168.0.1", 80],
  [["*.example"], "example", 80],
  [["example"], "intranet.example", 80],
  [["*.tranet.example"], "intranet.example", 80],
])("with %j still refuses %s:%i", async (allow, host, port) => {
  expect(await decide(host, { port, allow })).toMatchObject({ allowed: false });
});

it.each(["", "http://localhost", "10.0.0.0/99", "localhost:0", "localhost:99999", "[::1", "a b", "*"])(
  "names the invalid entry %j",
  (entry) => {
    expect(() => createEgressPolicy(["example.com", entry], resolveName)).toThrow(
      expect.objectContaining({
        code: "bad_option",
        message: expect.stringContaining(`allowPrivateHosts: ${JSON.stringify(entry)}`) as unknown,
      }),
    );
  },
);

it("refuses loopback and private addresses in every notation", async () => {
  const notations = (a: number, b: number, c: number, d: number): string[] => {
    const value = a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
    const hex = value.toString(16).padStart(8, "0");
    return [
      `${a}.${b}.${c}.${d}`,
      String(value),
      `0x${hex}`,
      `0${value.toString(8)}`,
      `${a}.${b}.${c * 256 + d}`,
      `${a}.${b * 2 ** 16 + c * 256 + d}`,
      `0x${a.toString(16)}.${b}.0${c.toString(8)}.${d}`,
      `[::ffff:${a}.${b}.${c}.${d}]`,
      `[::ffff:${hex.slice(0, 4)}:${hex.slice(4)}]`,
      `[64:ff9b::${a}.${b}.${c}.${d}]`,
      `[::${a}.${b}.${c}.${d}]`,
      `${a}.${b}.${c}.${d}.`,
    ];
  };
  const byte = fc.integer({ min: 0, max: 255 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(10, 127, 0, 240, 224), byte, byte, byte, async (a, b, c, d) => {
      for (const host of notations(a, b, c, d))
        expect(await decide(host), host).toMatchObject({ allowed: false, status: 403 });
    }),
  );
});

it("allows a session to narrow the policy, but not to widen it", async () => {
  const hosts = ["10.1.2.3", "10.9.9.9", "127.0.0.1", "intranet.example", "example.com", "169.254.169.254"];
  const reached = async (own: readonly string[], session: readonly string[]) => {
    const policy = createEgressPolicy(own, resolveName).narrowed(session);
    const decisions = await Promise.all(hosts.map((host) => policy.decide(host, 80)));
    return hosts.filter((_, index) => decisions[index]?.allowed === true);
  };
  expect(await reached(["10.0.0.0/8", "localhost:80"], [])).toEqual(["example.com"]);
  expect(await reached(["10.0.0.0/8"], ["10.1.0.0/16", "169.254.169.254", "127.0.0.1"])).toEqual([
    "10.1.2.3",
    "intranet.example",
    "example.com",
  ]);
  expect(await reached(["10.0.0.0/8"], ["intranet.example"])).toEqual(["intranet.example", "example.com"]);
  expect(await reached(["10.1.2.3:8080"], ["0.0.0.0/0"])).toEqual(["example.com"]);
  expect(() => createEgressPolicy([], resolveName).narrowed(["a b"])).toThrow(/private_hosts: "a b" is not a host/);
});

it("never throws for any input", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string(), fc.domain(), fc.ipV4Extended(), fc.ipV6(), fc.webAuthority()),
      async (host) => {
        expect(await decide(host)).toHaveProperty("allowed");
      },
    ),
  );
});

it("names the address for others if a page has the address of the service in the box of an app", async () => {
  expect(await decide("127.0.0.1", { port: 61_080 })).toMatchObject({
    message: expect.stringMatching(/^Pages may not reach 127\.0\.0\.1:61080: .* SHOAL_PUBLIC_URL/) as unknown,
  });
  const allowed = createEgressPolicy(["127.0.0.1:61080"], resolveName);
  expect(await allowed.decide("127.0.0.1", 61_080)).toMatchObject({ allowed: true });
  expect(await allowed.narrowed([]).decide("127.0.0.1", 61_080)).toMatchObject({
    message: expect.stringContaining("SHOAL_PUBLIC_URL") as unknown,
  });
});
