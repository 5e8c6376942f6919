import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { WritePosition } from "../feed/position.ts";
import { AppError } from "../errors/app-error.ts";
import { parseList } from "../http/structured-fields.ts";

/**
 * The header of receipts. A receipt is the positions of a client's writes in the feeds of their services: the client gets it with the response to a
 * write, and sends it with reads that must include the write. It is encrypted, since transaction numbers reveal how much is written. It does not
 * expire.
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
   * @throws AppError MALFORMED_REQUEST for a value that this platform has not issued, that is encrypted with a key which is no longer known, or that
   * exceeds a limit (`receiptsMax`, `writesMax`, `textCharsMax`).
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
const ivBytes = 12;
const tagBytes = 16;

/** The first byte of the encoded writes. */
const formatVersion = 1;
const nameLengthBytes = 2;
const epochBytes = 16;
const xidBytes = 8;
/** In hex. */
const noEpoch = "0".repeat(2 * epochBytes);
/** The groups of digits of a UUID, which its text form joins by hyphens. */
const uuidDigits = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** @param secrets at least one: the first encrypts, all decrypt. */
export function createReceipts(secrets: readonly string[]): Receipts {
  const keys = secrets.map((secret) => createHash("sha256").update("consistency token").update(secret).digest());
  const [newestKey] = keys;
  if (newestKey === undefined) throw new Error("A key for receipts is required.");

  return {
    read(value) {
      if (value === undefined) return [];
      const text = typeof value === "string" ? value : value.join(", ");
      if (text.length > textCharsMax) throw toReceiptError();
      const members = parseList(text);
      // Undefined for a text that is no list.
      if (members === undefined || members.length > receiptsMax) throw toReceiptError();
      const writes = members.flatMap((member) => {
        if (member.kind !== "string") throw toReceiptError();
        const bytes = decrypt(keys, member.value);
        const decoded = bytes && decode(bytes);
        if (decoded === undefined) throw toReceiptError();
        return decoded;
      });
      const distinctWrites = withoutDuplicates(writes);
      if (distinctWrites.length > writesMax) throw toReceiptError();
      return distinctWrites;
    },
    write(known, written) {
      const writtenServices = new Set(written.map(({ service }) => service));
      // A snapshot that includes the new write also includes this client's older writes to the service: they were committed before the new one began.
      const others = known.filter(({ service }) => !writtenServices.has(service));
      const receipt = encrypt(newestKey, encode([...others, ...written]));
      return `"${receipt}"`;
    },
  };
}

/** Each receipt of parallel writes repeats the writes that the client knew before. */
function withoutDuplicates(writes: readonly ServiceWrite[]): readonly ServiceWrite[] {
  const writeByKey = new Map<string, ServiceWrite>();
  for (const write of writes) writeByKey.set(`${write.service} ${write.epoch} ${write.xid}`, write);
  return [...writeByKey.values()];
}

function toReceiptError(): AppError {
  return new AppError(
    "MALFORMED_REQUEST",
    `${receiptHeader} has no receipt of this platform, or too many. Send the request without it.`,
  );
}

/** @returns the initialization vector, the encrypted bytes and the authentication tag, as base64url. */
function encrypt(key: Buffer, plaintext: Buffer): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv);
  const receipt = Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return receipt.toString("base64url");
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
  const buffers = [Buffer.of(formatVersion)];
  for (const { service, epoch = "", xid } of writes) {
    const name = Buffer.from(service);
    const nameLength = Buffer.alloc(nameLengthBytes);
    nameLength.writeUInt16BE(name.length);
    const position = Buffer.alloc(epochBytes + xidBytes);
    position.write(epoch.replaceAll("-", ""), "hex");
    position.writeBigUInt64BE(BigInt(xid), epochBytes);
    buffers.push(nameLength, name, position);
  }
  return Buffer.concat(buffers);
}

/** @returns undefined for a format that this release does not know. */
function decode(bytes: Buffer): readonly ServiceWrite[] | undefined {
  if (bytes[0] !== formatVersion) return undefined;
  const writes: ServiceWrite[] = [];
  let at = 1;
  while (at < bytes.length) {
    const nameStart = at + nameLengthBytes;
    const epochStart = nameStart + bytes.readUInt16BE(at);
    const xidStart = epochStart + epochBytes;
    const service = bytes.toString("utf8", nameStart, epochStart);
    const epochHex = bytes.toString("hex", epochStart, xidStart);
    const epoch = epochHex === noEpoch ? undefined : epochHex.replace(uuidDigits, "$1-$2-$3-$4-$5");
    const xid = Number(bytes.readBigUInt64BE(xidStart));
    writes.push({ service, epoch, xid });
    at = xidStart + xidBytes;
  }
  return writes;
}
