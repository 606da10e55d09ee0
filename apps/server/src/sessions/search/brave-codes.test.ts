import { expect, it } from "vitest";
import { braveCountry, braveLanguage } from "./brave-codes.ts";

it.each([
  ["de", "de"],
  ["de-AT", "de"],
  ["en-GB", "en-gb"],
  ["en-US", "en"],
  ["pt", "pt-br"],
  ["pt-BR", "pt-br"],
  ["pt-AO", "pt-pt"],
  ["zh", "zh-hans"],
  ["zh-TW", "zh-hant"],
  ["zh-Hant-HK", "zh-hant"],
  ["ja", "jp"],
  ["ja-JP", "jp"],
  ["no", "nb"],
  ["nn-NO", "nb"],
  ["iw", "he"],
  ["fa", undefined],
  ["de-1", undefined],
])("the language %s is %s for Brave", (tag, code) => {
  expect(braveLanguage(tag)).toBe(code);
});

it("knows the countries of Brave's list", () => {
  expect(["br", "GB", "uk", "is"].map(braveCountry)).toEqual(["BR", "GB", undefined, undefined]);
});
