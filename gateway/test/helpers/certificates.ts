import { generate, type SelfsignedOptions } from "selfsigned";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority extends Certificate {
  /** For a host name, and 127.0.0.1. */
  issue(commonName: string, host?: string): Promise<Certificate>;
}

export async function createAuthority(commonName: string): Promise<CertificateAuthority> {
  const authority = await create(commonName, {
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
    ],
  });
  return {
    ...authority,
    issue: (name, host = "localhost") =>
      create(name, {
        ca: authority,
        extensions: [
          { name: "basicConstraints", cA: false },
          {
            name: "subjectAltName",
            altNames: [
              { type: 2, value: host },
              { type: 7, ip: "127.0.0.1" },
            ],
          },
        ],
      }),
  };
}

async function create(commonName: string, o: SelfsignedOptions): Promise<Certificate> {
  const subject = [{ name: "commonName", value: commonName }];
  const { cert, private: key } = await generate(subject, { keyType: "ec", algorithm: "sha256", ...o });
  return { cert, key };
}
