import { expect, it } from "vitest";
import { pathOfSession } from "./session-path.ts";

const token = (payload: unknown) => `h.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.s`;
const jwt = token({ sub: "k3f9" });

it.each([
  ["/sessions/k3f9/fs/read_file?path=%2Fa%2F..", "/browsers/k3f9/fs/read_file?path=%2Fa%2F.."],
  ["/sessions/by-name/cdp?jwt=x", "/browsers/by-name/cdp?jwt=x"],
  ["/sessions/a%2Fb/json", "/browsers/a%2Fb/json"],
  [`/devtools/page/AB12?jwt=${jwt}`, `/browsers/k3f9/devtools/page/AB12?jwt=${jwt}`],
  [`/devtools/browser?a=1&jwt=${jwt}`, `/browsers/k3f9/devtools/browser?a=1&jwt=${jwt}`],
  [`/cdp?jwt=${jwt}`, `/browsers/k3f9/cdp?jwt=${jwt}`],
  [`/webdriver?jwt=${jwt}`, `/browsers/k3f9/webdriver?jwt=${jwt}`],
  [`/json/version?jwt=${jwt}`, `/browsers/k3f9/json/version?jwt=${jwt}`],
  [`/json/new?https://a.example/?jwt=1&jwt=${jwt}`, `/browsers/k3f9/json/new?https://a.example/?jwt=1&jwt=${jwt}`],
])("finds the session of %s", (url, path) => {
  expect(pathOfSession(url)).toBe(path);
});

it.each([
  "/",
  "/sessions",
  "/sessions/k3f9",
  "/sessions/k3f9?a=/",
  "/sessionsx/a/b",
  "/browsers/k3f9/cdp",
  "/json/version",
  "/devtools/page/AB12?jwt=",
  "/devtools/page/AB12?jwt=a.b.c",
  `/devtools/page/AB12?jwt=${token("text")}`,
  `/devtools/page/AB12?jwt=${token(null)}`,
  `/devtools/page/AB12?jwt=${token({ sub: 1 })}`,
  `/devtools/page/AB12?jwt=${token({ sub: "../profiles" })}`,
  `/devtools/page/AB12?jwt=${token({ sub: "a/b" })}`,
  `/devtools/page/../../profiles?jwt=${jwt}`,
  `/profiles?jwt=${jwt}`,
  `/fs/read_file?path=/a&jwt=${jwt}`,
])("leaves %s as it is", (url) => {
  expect(pathOfSession(url)).toBe(url);
});
