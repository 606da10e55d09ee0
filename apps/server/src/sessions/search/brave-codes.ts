// Brave refuses a search with another code (422).

const countries = new Set(
  "AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW US ZA".split(
    " ",
  ),
);

const languages = new Set(
  (
    "ar bg bn ca cs da de en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl pt-br pt-pt " +
    "ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant"
  ).split(" "),
);
const otherNames: Readonly<Record<string, string>> = { ja: "jp", no: "nb", nn: "nb", pt: "pt-pt" };

/** Brave's code of a country; `undefined` if it has none. */
export function braveCountry(country: string): string | undefined {
  const code = country.toUpperCase();
  return countries.has(code) ? code : undefined;
}

/** Brave's code of a language tag (`pt-BR`); `undefined` if it has none. */
export function braveLanguage(tag: string): string | undefined {
  const lower = tag.toLowerCase();
  if (languages.has(lower)) return lower;
  const locale = likely(tag);
  if (locale === undefined) return undefined;
  const { language, region = "", script = "" } = locale;
  return [`${language}-${script}`, `${language}-${region}`, otherNames[language] ?? language]
    .map((code) => code.toLowerCase())
    .find((code) => languages.has(code));
}

/** With the usual script and region: `zh-TW` is `zh-Hant-TW`. */
function likely(tag: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(tag).maximize();
  } catch {
    return undefined;
  }
}
