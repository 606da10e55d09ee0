import { expect, it } from "vitest";
import { openElsewhere } from "./open-url.ts";

it.each([
  ["http://127.0.0.1:7777/live?x=1", "7777:127.0.0.1:7777"],
  ["http://localhost/", "80:localhost:80"],
  ["https://app.localhost/", "443:app.localhost:443"],
  ["http://[::1]:8080/", "8080:[::1]:8080"],
])("forwards the port of %s, which only this machine can open", (url, forwarded) => {
  const lines = openElsewhere(url).split("\n");
  expect(lines[0]).toBe("Cannot open a browser on this machine. Run this on your own machine, and open the URL there:");
  expect(lines[1]).toMatch(new RegExp(`^  ssh -N -L ${forwarded.replace(/[[\].]/g, "\\$&")} (?:[^@\\s]+@)?\\S+$`));
  expect(lines).toHaveLength(2);
});

it.each(["https://shoal.example/", "http://10.0.0.5:7777/", "http://127.example.com/", "http://localhost.example/"])(
  "leaves %s to any other machine",
  (url) => {
    expect(openElsewhere(url)).toBe("Cannot open a browser on this machine. Open this URL on another machine:");
  },
);
