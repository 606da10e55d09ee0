export { CertificateAuthority } from "./certificate-authority.ts";
