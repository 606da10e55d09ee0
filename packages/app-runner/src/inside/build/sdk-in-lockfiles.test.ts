import { expect, it } from "vitest";
import { npmLockWith, pnpmLockWith } from "./sdk-in-lockfiles.ts";

const sdk = [{ name: "@shoal/client", version: "1.2.0", integrity: "sha512-own==" }];

it("takes the addresses of the SDK out of npm's lockfile, and knows the service's own version by its checksum", () => {
  const lock = {
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { "@shoal/client": "*" } },
      "node_modules/@shoal/client": {
        version: "1.2.0",
        resolved: "http://127.0.0.1:7777/npm/@shoal/client/-/client-1.2.0.tgz",
        integrity: "sha512-other==",
      },
      "node_modules/x/node_modules/@shoal/client": {
        version: "1.0.0",
        resolved: "https://r.example/c.tgz",
        integrity: "a",
      },
      "node_modules/y/node_modules/@shoal/client": { version: "1.2.0", resolved: "file:client.tgz", integrity: "b" },
      "node_modules/@shoal/other": { version: "1.2.0", resolved: "https://r.example/o.tgz", integrity: "c" },
    },
  };
  expect(JSON.parse(npmLockWith(JSON.stringify(lock), sdk))).toEqual({
    lockfileVersion: 3,
    packages: {
      ...lock.packages,
      "node_modules/@shoal/client": { version: "1.2.0", integrity: "sha512-own==" },
      "node_modules/x/node_modules/@shoal/client": { version: "1.0.0", integrity: "a" },
    },
  });
  for (const unchanged of ["{", "null", "[]", '{"packages":[null]}', '{ "packages": {} }'])
    expect(npmLockWith(unchanged, sdk)).toBe(unchanged);
});

it("does the same for pnpm", () => {
  const lock = (mine: string, older: string) => `lockfileVersion: '9.0'
packages:
  '@shoal/client@1.2.0':
    resolution: {${mine}}
  '@shoal/client@1.0.0':
    resolution: {${older}}
  '@shoal/other@1.2.0':
    resolution: {integrity: sha512-c==, tarball: https://r.example/o.tgz}
`;
  const written = lock(
    "integrity: sha512-x==, tarball: http://l/c.tgz",
    "integrity: sha512-y==, tarball: http://l/d.tgz",
  );
  expect(pnpmLockWith(written, sdk)).toBe(lock("integrity: sha512-own==", "integrity: sha512-y=="));
});
