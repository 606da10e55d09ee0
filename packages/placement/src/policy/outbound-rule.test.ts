import { expect, it } from "vitest";
import { createOutboundRule } from "./outbound-rule.ts";

const answers: Record<string, string[]> = {
  "public.example": ["93.184.216.34"],
  "inside.example": ["10.1.2.3"],
  "both.example": ["10.1.2.3", "93.184.216.34"],
};
const resolveName = (name: string) => {
  const found = answers[name];
  return found === undefined
    ? Promise.reject(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }))
    : Promise.resolve(found.map((address) => ({ address, family: 4 })));
};
const rule = createOutboundRule({ allowPrivateHosts: ["127.0.0.1:4318"], resolveName });

it("returns the addresses to connect to, without private ones", async () => {
  expect(await rule.decide("public.example", 443)).toEqual({
    allowed: true,
    addresses: [{ address: "93.184.216.34", family: 4 }],
  });
  expect(await rule.decide("both.example", 443)).toEqual({
    allowed: true,
    addresses: [{ address: "93.184.216.34", family: 4 }],
  });
  expect(await rule.decide("inside.example", 443)).toMatchObject({
    allowed: false,
    because: "10.1.2.3 is a private network",
  });
  expect(await rule.decide("nowhere.example", 443)).toMatchObject({
    allowed: false,
    because: "its name could not be resolved (ENOTFOUND)",
  });
  expect(await rule.decide("127.0.0.1", 4318)).toMatchObject({ allowed: true });
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
    expect(await rule.literalProblem(host, 80), host).toContain("is ");
  for (const host of ["public.example", "inside.example", "93.184.216.34", "[2606:4700::1111]"])
    expect(await rule.literalProblem(host, 80), host).toBeUndefined();
  expect(await rule.literalProblem("127.0.0.1", 4318)).toBeUndefined();
});
