import { expect, it } from "vitest";
import { TypedSecrets } from "../../../secrets/typed-secrets.ts";
import { checkAddress, plainAddressOf, refuseFiles } from "./navigation.ts";

const refused = "net::ERR_CONNECTION_REFUSED";

it.each([
  ["shop.example", "https://shop.example/", refused, "http://shop.example/"],
  [
    " shop.example:8080/a?b#c ",
    "https://shop.example:8080/a?b#c",
    "net::ERR_SSL_PROTOCOL_ERROR",
    "http://shop.example:8080/a?b#c",
  ],
  ["shop.example", "https://shop.example/", "net::ERR_TUNNEL_CONNECTION_FAILED", "http://shop.example/"],
])("opens %j over http when https is not served", (typed, url, error, plain) => {
  expect(plainAddressOf(typed, url, error)).toBe(plain);
});

it.each([
  ["https://shop.example", "https://shop.example/", refused],
  ["shop.example", "https://shop.example/", ""],
  ["shop.example", "https://shop.example/", "net::ERR_CERT_AUTHORITY_INVALID"],
  ["shop.example", "https://shop.example/", "net::ERR_NAME_NOT_RESOLVED"],
  ["localhost:3000", "http://localhost:3000/", refused],
])("keeps %j after %s and %j", (typed, url, error) => {
  expect(plainAddressOf(typed, url, error)).toBeUndefined();
});

it.each(["file:///home/shoal/a.html", " FILE:/etc/passwd", "file:etc", "file://localhost/etc/passwd"])(
  "opens the file %j until a stored value is typed",
  (address) => {
    const secrets = new TypedSecrets();
    secrets.add("typed by the caller", "telemetry");
    const open = () => {
      refuseFiles(checkAddress(address), secrets);
    };
    expect(open).not.toThrow();
    secrets.add("correct-horse");
    expect(open).toThrow("its pages open no files");
  },
);
