import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const compressible = /\.(?:css|js|json|svg)$/;
const smallestBytes = 1024;

const entries = await readdir("dist", { recursive: true, withFileTypes: true });
const files = entries.filter((entry) => entry.isFile() && compressible.test(entry.name));
await Promise.all(
  files.map(async ({ name, parentPath }) => {
    const path = join(parentPath, name);
    const content = await readFile(path);
    if (content.length < smallestBytes) return;
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content, quality));
    await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
  }),
);
