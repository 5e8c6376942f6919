import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { WritePosition } from "../feed/position.ts";
import { AppError } from "../errors/app-error.ts";
import { parseList } from "../http/structured-fields.ts";

/**
 * The header of receipts. A receipt is the positions of a client's writes in the feeds of their services: the client gets it with the response to a
 * write, and sends it with reads that must include the write. It is encrypted, since transaction numbers reveal how much is written.
 */
export const receiptHeader = "Consistency-Token";

/** A write of the service with this name. */
export interface ServiceWrite extends WritePosition {
  readonly service: string;
}

export interface Receipts {
  /**
   * The writes that the receipts of a request name, without duplicates; empty without receipts.
   * @param value of the header: a list of at most `receiptsMax` strings (RFC 9651, 3.1). The gateway also accepts it in the request body.
   * @throws AppError MALFORMED_REQUEST for a value that this platform has not issued, or that is encrypted with a key which is no longer known.
   */
  read(value: string | readonly string[] | undefined): readonly ServiceWrite[];
  /**
   * The header's value for the response to a write.
   * @param known the writes in the receipts of the request.
   * @param written the writes of the request. They replace the known writes of the same services.
   */
  write(known: readonly ServiceWrite[], written: readonly ServiceWrite[]): string;
}

/** After parallel writes, a client sends one receipt for each. */
const receiptsMax = 8;
/** The maximum number of different writes in the receipts of one request: a read may wait for each. */
const writesMax = 64;
/** Node's limit for all headers of a request. A receipt in the body of a GraphQL request could be longer; parsing a megabyte takes 60 ms. */
const textCharsMax = 16_384;

const algorithm = "aes-256-gcm";
const formatVersion = 1;
const ivBytes = 12;
const tagBytes = 16;

/** @param secrets at least one: the first encrypts, all decrypt. */
export function createReceipts(secrets: readonly string[]): Receipts {
  const keys = secrets.map((secret) => createHash("sha256").update("consistency token").update(secret).digest());
  const [newestKey] = keys;
  if (newestKey === undefined) throw new Error("A key for receipts is required.");

  return {
    read(value) {
      if (value === undefined) return [];
      const text = typeof value === "string" ? value : value.join(", ");
      const members = text.length > textCharsMax ? undefined : parseList(text);
      if (members === undefined || members.length > receiptsMax) throw toReceiptError();
      const writes = members.flatMap((member) => {
        const bytes = member.kind === "string" ? decrypt(keys, member.value) : undefined;
        const decoded = bytes && decode(bytes);
        if (decoded === undefined) throw toReceiptError();
        return decoded;
      });
      const different = withoutDuplicates(writes);
      if (different.length > writesMax) throw toReceiptError();
      return different;
    },
    write(known, written) {
      const services = new Set(written.map(({ service }) => service));
      // A snapshot that includes the new write also includes this client's older writes to the service: they were committed before the new one began.
      const others = known.filter(({ service }) => !services.has(service));
      return `"${encrypt(newestKey, encode([...others, ...written]))}"`;
    },
  };
}

/** Each receipt of parallel writes repeats the writes that the client knew before. */
function withoutDuplicates(writes: readonly ServiceWrite[]): readonly ServiceWrite[] {
  return [...new Map(writes.map((write) => [`${write.service} ${write.epoch} ${write.xid}`, write])).values()];
}

function toReceiptError(): AppError {
  return new AppError(
    "MALFORMED_REQUEST",
    `${receiptHeader} has no receipt of this platform, or too many. Send the request without it.`,
  );
}

function encrypt(key: Buffer, text: Buffer): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv);
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url");
}

/** @returns undefined for a text that none of the keys has encrypted. */
function decrypt(keys: readonly Buffer[], receipt: string): Buffer | undefined {
  const bytes = Buffer.from(receipt, "base64url");
  if (bytes.length < ivBytes + tagBytes) return undefined;
  for (const key of keys) {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    decipher.setAuthTag(bytes.subarray(-tagBytes));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
    } catch {
      // Encrypted with another key, or altered.
    }
  }
  return undefined;
}

/** For each write: the length of the service's name and the name, the epoch (zeros for none), and the transaction number. */
function encode(writes: readonly ServiceWrite[]): Buffer {
  const parts = [Buffer.of(formatVersion)];
  for (const { service, epoch = "", xid } of writes) {
    const name = Buffer.from(service);
    const nameLength = Buffer.alloc(nameLengthBytes);
    nameLength.writeUInt16BE(name.length);
    const position = Buffer.alloc(epochBytes + xidBytes);
    position.write(epoch.replaceAll("-", ""), "hex");
    position.writeBigUInt64BE(BigInt(xid), epochBytes);
    parts.push(nameLength, name, position);
  }
  return Buffer.concat(parts);
}

const nameLengthBytes = 2;
const epochBytes = 16;
const xidBytes = 8;
const noEpoch = "0".repeat(2 * epochBytes);

/** @returns undefined for a format that this release does not know. */
function decode(bytes: Buffer): readonly ServiceWrite[] | undefined {
  if (bytes[0] !== formatVersion) return undefined;
  const writes: ServiceWrite[] = [];
  for (let at = 1; at < bytes.length;) {
    const nameStart = at + nameLengthBytes;
    const nameEnd = nameStart + bytes.readUInt16BE(at);
    const service = bytes.toString("utf8", nameStart, nameEnd);
    const hex = bytes.toString("hex", nameEnd, nameEnd + epochBytes);
    const epoch = hex === noEpoch ? undefined : hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    writes.push({ service, epoch, xid: Number(bytes.readBigUInt64BE(nameEnd + epochBytes)) });
    at = nameEnd + epochBytes + xidBytes;
  }
  return writes;
}
