import { describe, expect, it } from "vitest";
import { readTotp, type Totp, totpCode } from "./totp.ts";

/** The secrets of RFC 6238, appendix B, in Base32. */
const secrets = {
  SHA1: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
  SHA256: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA",
  SHA512: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA",
};

function read(text: string): Totp {
  const totp = readTotp(text);
  if ("problem" in totp) throw new Error(totp.problem);
  return totp;
}

describe("the codes of RFC 6238, appendix B", () => {
  it.each([
    [59, "94287082", "46119246", "90693936"],
    [1_111_111_109, "07081804", "68084774", "25091201"],
    [1_111_111_111, "14050471", "67062674", "99943326"],
    [1_234_567_890, "89005924", "91819424", "93441116"],
    [2_000_000_000, "69279037", "90698825", "38618901"],
    [20_000_000_000, "65353130", "77737706", "47863826"],
  ])("are those of second %i", (second, ...codes) => {
    const at = new Date(second * 1000);
    const found = Object.entries(secrets).map(
      ([algorithm, secret]) =>
        totpCode(read(`otpauth://totp/x?secret=${secret}&algorithm=${algorithm}&digits=8`), at).code,
    );
    expect(found).toEqual(codes);
    expect(totpCode(read(secrets.SHA1), at).code).toBe(codes[0].slice(2));
  });
});

it("says when a code expires", () => {
  expect(totpCode(read(secrets.SHA1), new Date(59_999)).expiresAt).toEqual(new Date(60_000));
  expect(totpCode(read(secrets.SHA1), new Date(60_000)).expiresAt).toEqual(new Date(90_000));
  const slow = read(`otpauth://totp/x?secret=${secrets.SHA1}&period=60`);
  expect(totpCode(slow, new Date(59_000)).expiresAt).toEqual(new Date(60_000));
});

it.each([
  ["lower case and spaces", " gezd gnbv gy3t qojq gezd gnbv gy3t qojq\n"],
  ["hyphens", "GEZD-GNBV-GY3T-QOJQ-GEZD-GNBV-GY3T-QOJQ"],
  ["padding", `${secrets.SHA1}====`],
  ["a URI", `otpauth://totp/Shop:ada%40example.com?secret=${secrets.SHA1.toLowerCase()}&issuer=Shop`],
  ["a URI with names in other cases", `OTPAUTH://TOTP/Shop?Secret=${secrets.SHA1}&Algorithm=hmac-sha-1&DIGITS=6`],
])("accepts a secret with %s", (_, text) => {
  expect(read(text)).toEqual({ secret: secrets.SHA1, algorithm: "SHA1", digits: 6, period: 30 });
});

it("keeps the settings of a URI", () => {
  expect(read(`otpauth://totp/x?secret=${secrets.SHA256}&algorithm=sha256&digits=8&period=60`)).toEqual({
    secret: secrets.SHA256,
    algorithm: "SHA256",
    digits: 8,
    period: 60,
  });
});

it.each([
  ["", "expected Base32"],
  ["A", "expected Base32"],
  ["GEZD1", "expected Base32"],
  ["hunter2!", "expected Base32"],
  ["otpauth://totp/x", "expected Base32"],
  ["otpauth://totp/x?secret=GEZ8", "expected Base32"],
  ["otpauth:totp", "only time-based codes"],
  ["otpauth-migration://offline?data=abc", "otpauth://totp/"],
  ["otpauth://hotp/x?secret=GEZDGNBV&counter=1", "only time-based codes"],
  ["otpauth://totp/x?secret=GEZDGNBV&algorithm=MD5", 'algorithm "MD5" is not one of SHA1, SHA256, SHA512'],
  ["otpauth://totp/x?secret=GEZDGNBV&digits=5", "digits must be 6, 7 or 8"],
  ["otpauth://totp/x?secret=GEZDGNBV&period=0", "period must be"],
  ["otpauth://totp/x?secret=GEZDGNBV&period=1.5", "period must be"],
])("refuses %s, and does not repeat its secret", (text, problem) => {
  const result = readTotp(text);
  expect(result).toEqual({ problem: expect.stringContaining(problem) as unknown });
  expect(JSON.stringify(result)).not.toMatch(/GEZ|hunter2/);
});
