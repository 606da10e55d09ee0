import { expect, it } from "vitest";
import { isRequestable, nothingWanted, positionOf, requestOf } from "./wanted.ts";

it("makes a request of the chosen fields only", () => {
  expect(requestOf(nothingWanted)).toEqual({});
  expect(requestOf({ ...nothingWanted, locale: " de-CH ", color_scheme: "dark" })).toEqual({
    location: { locale: "de-CH" },
    conditions: { color_scheme: "dark" },
  });
});

it("grants the permission for the position", () => {
  expect(requestOf({ ...nothingWanted, position: "47.37, -8.54" }).conditions).toEqual({
    permissions: [{ name: "geolocation" }],
    geolocation: { latitude: 47.37, longitude: -8.54 },
  });
});

it.each(["", "47", "91, 0", "0, 181", "a, b", "1,2,3"])("takes %j for no position", (text) => {
  expect(positionOf(text)).toBeUndefined();
  expect(isRequestable({ ...nothingWanted, position: text })).toBe(text === "");
  expect(requestOf({ ...nothingWanted, position: text })).toEqual({});
});
