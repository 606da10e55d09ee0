export { readTotp, totpCode, type Totp } from "./totp.ts";
