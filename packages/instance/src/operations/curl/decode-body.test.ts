import { expect, it } from "vitest";
import { decodeBody } from "./decode-body.ts";

const bytes = (hex: string) => Buffer.from(hex.replaceAll(" ", ""), "hex");
const privet = bytes("cf f0 e8 e2 e5 f2");
const html = (head: string, body: Buffer) => Buffer.concat([Buffer.from(`<html><head>${head}</head>`), body]);

it.each([
  ["the header", privet, "text/html; charset=windows-1251", "Привет"],
  ["the header, quoted and in capitals", privet, 'text/plain; x=1; Charset="WINDOWS-1251"', "Привет"],
  ["an alias of the header", bytes("93 fa 96 7b"), "text/html; charset=x-sjis", "日本"],
  ["Shift_JIS", bytes("93 fa 96 7b"), "text/html; charset=Shift_JIS", "日本"],
  ["EUC-JP", bytes("c6 fc cb dc"), "text/html; charset=euc-jp", "日本"],
  ["EUC-KR", bytes("c7 d1 b1 db"), "text/html; charset=ks_c_5601-1987", "한글"],
  ["GBK", bytes("d6 d0 ce c4"), "text/html; charset=gb2312", "中文"],
  ["Big5", bytes("a4 a4 a4 e5"), "text/html; charset=big5", "中文"],
  ["KOI8-R", bytes("f0 d2 c9"), "text/plain; charset=koi8-r", "При"],
  ["latin1 as windows-1252", bytes("80 e9"), "text/plain; charset=iso-8859-1", "€é"],
  ["UTF-16 by its mark", bytes("ff fe 48 00 69 00"), "text/plain; charset=utf-8", "Hi"],
  ["big-endian UTF-16 by its mark", bytes("fe ff 00 48 00 69"), "text/plain", "Hi"],
  ["UTF-16 by the header", bytes("48 00 69 00"), "text/plain; charset=utf-16", "Hi"],
  ["UTF-8 with a mark", bytes("ef bb bf c3 a9"), "text/plain; charset=windows-1251", "é"],
  ["UTF-8 without a label", Buffer.from("日本"), "text/plain", "日本"],
  ["UTF-8 without a type", Buffer.from("日本"), undefined, "日本"],
  ["JSON", Buffer.from('{"a":"ü"}'), "application/json", '{"a":"ü"}'],
  ["an old page without a label", bytes("63 61 66 e9"), "text/html", "café"],
  ["nothing", Buffer.alloc(0), "text/html; charset=windows-1251", ""],
  ["a broken character of UTF-8", bytes("61 ff 62"), "text/html; charset=utf-8", "a\ufffdb"],
] as const)("decodes text by %s", (_name, body, type, text) => {
  expect(decodeBody(body, type)).toEqual({ text, encoding: "utf8" });
});

it.each([
  ['<meta charset="windows-1251">', "text/html"],
  ["<META CHARSET=windows-1251>", "text/html"],
  ['<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">', "text/html"],
  ["<meta charset='cp1251'/>", "application/xhtml+xml"],
])("decodes a document by its own label %s", (head, type) => {
  expect(decodeBody(html(head, privet), type).text).toContain("Привет");
});

it("takes a document that names UTF-16 in ASCII for UTF-8, and XML by its declaration", () => {
  expect(decodeBody(html('<meta charset="utf-16">', Buffer.from("é")), "text/html").text).toContain("é");
  const xml = Buffer.concat([Buffer.from('<?xml version="1.0" encoding="windows-1251"?><a>'), privet]);
  expect(decodeBody(xml, "application/xml").text).toContain("Привет");
});

it.each([
  ["binary data", bytes("89 50 4e 47 0d 0a 1a 0a ff"), "image/png"],
  ["binary data without a type", bytes("00 ff fe 80"), undefined],
  ["text in an unknown encoding", privet, "text/html; charset=x-no-such"],
] as const)("returns %s as base64", (_name, body, type) => {
  expect(decodeBody(body, type)).toEqual({ text: body.toString("base64"), encoding: "base64" });
});
