import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { WritePosition } from "../feed/position.ts";
import { AppError } from "../errors/app-error.ts";
import { parseList } from "../http/structured-fields.ts";

/**
 * A receipt is the positions of a client's writes in the feeds of their services. The client sends it with reads that must include the writes. It is
 * encrypted, since transaction numbers reveal how much is written. It does not expire.
 */
export const receiptHeader = "Consistency-Token";

export interface ServiceWrite extends WritePosition {
  readonly service: string;
}

export interface Receipts {
  /**
   * @param value a list of at most `receiptsMax` strings (RFC 9651, 3.1).
   * @throws AppError MALFORMED_REQUEST for a value that this platform has not issued, whose key is no longer known, or that exceeds a limit.
   */
  read(value: string | readonly string[] | undefined): readonly ServiceWrite[];
  /** @param written they replace the known writes of the same services. */
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

const formatVersion = 1;
const nameLengthBytes = 2;
const epochBytes = 16;
const xidBytes = 8;
const noEpoch = "0".repeat(2 * epochBytes);
const uuidDigits = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

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

function encrypt(key: Buffer, plaintext: Buffer): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv);
  const receipt = Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  return receipt.toString("base64url");
}

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

/** For each write: the length of the service's name, the name, the epoch (zeros for none) and the transaction number. */
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
