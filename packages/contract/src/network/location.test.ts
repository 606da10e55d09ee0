import { describe, expect, it } from "vitest";
import { exitTimezone, joinLocations, readLocation, shownLocation } from "./index.ts";

const winter = new Date("2026-01-15T00:00:00Z");

describe("the location of a browser", () => {
  it.each([
    [{ timezone: "europe/berlin" }, { timezone: "Europe/Berlin" }],
    [{ timezone: "Etc/GMT+5" }, { timezone: "Etc/GMT+5" }],
    [{ timezone: "exit" }, { timezone: "exit" }],
    [{ locale: "de-ch" }, { locale: "de-CH" }],
    [{ locale: "zh-hant-tw" }, { locale: "zh-Hant-TW" }],
    [{ locale: "iw" }, { locale: "he" }],
    [{}, {}],
  ])("is read from %j as pages see it", (requested, location) => {
    expect(readLocation(requested)).toEqual({ location });
  });

  it.each([
    [{ timezone: "Mars/Base" }, "body.location.timezone"],
    [{ timezone: "+01:00" }, "body.location.timezone"],
    [{ timezone: "" }, "body.location.timezone"],
    [{ locale: "de-XX" }, "body.location.locale"],
    [{ locale: "xx" }, "body.location.locale"],
    [{ locale: "../de" }, "body.location.locale"],
    [{ locale: "de-CH-u-nu-arab" }, "body.location.locale"],
  ])("refuses %j", (requested, field) => {
    expect(readLocation(requested)).toMatchObject({
      refusal: { status: 400, code: "invalid_browser_location", field },
    });
  });

  it("takes each field from the most specific choice", () => {
    expect(joinLocations({ locale: "fr-FR" }, undefined, { locale: "de-DE", timezone: "Europe/Berlin" })).toEqual({
      locale: "fr-FR",
      timezone: "Europe/Berlin",
    });
  });

  it("names where each value comes from", () => {
    expect(shownLocation({})).toBeUndefined();
    expect(shownLocation({ timezone: "exit" }, "Asia/Tokyo")).toEqual({
      timezone: "Asia/Tokyo",
      timezone_source: "exit",
      locale: "en-US",
      locale_source: "default",
    });
  });

  it("is the one of a proxy's country where that has one time", () => {
    expect(exitTimezone("JP", winter)).toEqual({ timezone: "Asia/Tokyo" });
    expect(exitTimezone("de", winter)).toEqual({ timezone: "Europe/Berlin" });
    for (const country of ["US", "XX", "Germany", undefined])
      expect(exitTimezone(country, winter)).toMatchObject({ refusal: { field: "body.location.timezone" } });
  });
});
