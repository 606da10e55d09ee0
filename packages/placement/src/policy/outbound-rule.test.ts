import { expect, it } from "vitest";
import { createOutboundRule, guardedLookup } from "./outbound-rule.ts";

const answers: Record<string, string[]> = {
  "public.example": ["93.184.216.34"],
  "inside.example": ["10.1.2.3"],
  "both.example": ["10.1.2.3", "93.184.216.34"],
  "server.example": ["203.8.8.8"],
};
const resolveName = (name: string) => {
  const found = answers[name];
  return found === undefined
    ? Promise.reject(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }))
    : Promise.resolve(found.map((address) => ({ address, family: 4 })));
};
const rule = createOutboundRule({
  allowPrivateHosts: ["127.0.0.1:4318"],
  otherServers: () => ["203.8.8.8"],
  resolveName,
});
const decide = (url: string) => rule.decide(new URL(url));

it("returns the addresses to connect to, without private ones", async () => {
  const publicOne = { allowed: true, addresses: [{ address: "93.184.216.34", family: 4 }] };
  expect(await decide("https://public.example")).toMatchObject(publicOne);
  expect(await decide("https://both.example")).toMatchObject(publicOne);
  expect(await decide("https://inside.example")).toMatchObject({
    allowed: false,
    because: "10.1.2.3 is a private network",
  });
  expect(await decide("https://server.example")).toMatchObject({
    allowed: false,
    because: "203.8.8.8 is another address of the service",
  });
  expect(await decide("https://nowhere.example")).toMatchObject({
    allowed: false,
    because: "its name could not be resolved (ENOTFOUND)",
  });
  expect(await decide("http://127.0.0.1:4318")).toMatchObject({ allowed: true });
});

it("refuses literal private addresses in any notation without a lookup", async () => {
  for (const host of [
    "127.0.0.1",
    "[::1]",
    "localhost",
    "x.localhost",
    "0x7f.1",
    "2130706433",
    "169.254.169.254",
    "[::ffff:10.0.0.1]",
    "[fd00::1]",
    "localhost.",
  ])
    expect(await rule.decideLiteral(new URL(`http://${host}`)), host).toMatchObject({
      allowed: false,
      because: expect.stringContaining("is ") as unknown,
    });
  for (const host of ["public.example", "inside.example", "93.184.216.34", "[2606:4700::1111]", "127.0.0.1:4318"])
    expect(await rule.decideLiteral(new URL(`http://${host}`)), host).toMatchObject({ allowed: true });
  expect(await rule.decideLiteral(new URL("http://93.184.216.34"), "private")).toMatchObject({ needsTls: true });
});

it("sends plain http to the private addresses that it checked, also if the name then resolves to public ones", async () => {
  const turns = [["10.1.2.3"], ["93.184.216.34"], ["10.1.2.3", "93.184.216.34", "2606:4700::1111"]];
  let turn = 0;
  const flipping = createOutboundRule({
    allowPrivateHosts: ["flip.example"],
    resolveName: async () =>
      (turns[turn++] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
  });
  const url = new URL("http://flip.example/hook");
  const first = await flipping.decide(url, "private");
  const addresses = await new Promise((resolve) => {
    if (first.allowed)
      first.lookup("flip.example", { all: true }, (_error, found) => {
        resolve(found);
      });
  });
  expect(addresses).toEqual([{ address: "10.1.2.3", family: 4 }]);
  expect(turn).toBe(1);
  expect(await flipping.decide(url, "private")).toMatchObject({ allowed: false, needsTls: true });
  expect(await flipping.decide(url, "private")).toMatchObject({ addresses: [{ address: "10.1.2.3", family: 4 }] });
});

it("looks names up for other clients only as far as it allows them, with the ports of configured addresses", async () => {
  const rule = createOutboundRule({ allowPrivateHosts: ["inside.example:9000"], resolveName });
  const ask = (name: string, urls: readonly string[] = []) =>
    new Promise((resolve) => {
      guardedLookup(
        rule,
        urls.map((url) => new URL(url)),
      )(name, { all: true }, (error, found) => {
        resolve(error?.message ?? found);
      });
    });
  expect(await ask("both.example")).toEqual([{ address: "93.184.216.34", family: 4 }]);
  expect(await ask("inside.example")).toBe("inside.example may not be reached: 10.1.2.3 is a private network");
  expect(await ask("inside.example", ["http://inside.example:9000"])).toEqual([{ address: "10.1.2.3", family: 4 }]);
});
