import { expect, it } from "vitest";
import { safeNpmSettings } from "./npm-settings.ts";

it("keeps settings of the resolution, and registries of scopes", () => {
  const text = "legacy-peer-deps = true\n@acme:registry=https://npm.acme.example/\n//npm.acme.example/:_authToken=t\n";
  expect(safeNpmSettings(`; comment\n# comment\n\n${text}`)).toEqual({
    kept: "legacy-peer-deps = true\n@acme:registry=https://npm.acme.example/\n//npm.acme.example/:_authToken=t\n",
    ignored: [],
  });
});

it.each([
  "git=./evil.sh",
  '"git"=./evil.sh',
  " git = ./evil.sh",
  "fund=false\rgit=./evil.sh",
  "[section]\ngit=./evil.sh",
  "script-shell=./evil.sh",
  "node-options=--require ./evil.js",
  "ignore-scripts=false",
  "pnpmfile=./evil.cjs",
  "registry=https://evil.example/",
  "cafile=/etc/passwd",
  "globalconfig=./x",
  "fund[git]=x",
])("drops %j", (text) => {
  const { ignored, kept } = safeNpmSettings(text);
  expect(kept.replace("fund=false\n", "")).toBe("");
  expect(ignored).not.toEqual([]);
});
