/** A PDF with one line of text on each page; an empty text makes an empty page. @param trailer - more entries. */
export function pdfFile(texts: readonly string[], trailer = ""): Buffer {
  const pages = texts.map((_, page) => `${String(4 + page * 2)} 0 R`).join(" ");
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    `<</Type/Pages/Kids[${pages}]/Count ${String(texts.length)}>>`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ...texts.flatMap((text, page) => {
      const stream = text === "" ? "" : `BT /F1 12 Tf 50 700 Td (${text}) Tj ET`;
      const contents = `${String(5 + page * 2)} 0 R`;
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${contents}>>`,
        `<</Length ${String(stream.length)}>>stream\n${stream}\nendstream`,
      ];
    }),
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${String(index + 1)} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const start = file.length;
  const rows = places.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const count = String(objects.length + 1);
  file += `xref\n0 ${count}\n0000000000 65535 f \n${rows}trailer\n<</Size ${count}/Root 1 0 R${trailer}>>\nstartxref\n${String(start)}\n%%EOF`;
  return Buffer.from(file, "latin1");
}

const hash = "0".repeat(64);
/** Makes a PDF need a password. */
export const encrypted = `/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<${hash}>/U<${hash}>>>`;
