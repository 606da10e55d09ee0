import { expect, it } from "vitest";
import { webAddress } from "./web-address.ts";

it("accepts addresses of the web only", () => {
  expect(
    ["https://a.example/x?y#z", "http://127.0.0.1:1/", "javascript:alert(1)", "/x", "", null].map(webAddress),
  ).toEqual(["https://a.example/x?y#z", "http://127.0.0.1:1/", undefined, undefined, undefined, undefined]);
});
