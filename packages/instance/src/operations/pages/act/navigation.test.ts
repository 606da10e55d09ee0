import { expect, it } from "vitest";
import { plainAddressOf } from "./navigation.ts";

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
