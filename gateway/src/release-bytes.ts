/** Shorter buffers may be in Node's pool, and are collected with the young generation. */
const releasedBytesMin = Math.max(32_768, Buffer.poolSize / 2);

/**
 * Frees the memory of a long buffer (32 KiB and more) at once; it is empty afterwards. For a body that nothing reads any more and no other request has.
 *
 * Otherwise it is freed with the next collection of the old generation, since a long body outlives the collections of the young one. V8 starts that
 * one whenever 64 MB are allocated outside of its heap, and then marks for 5 to 10 ms at each further 128 KB: other requests wait for hundreds of
 * milliseconds.
 */
export function releaseBytes({ buffer, length }: Buffer): void {
  if (length < releasedBytesMin || !(buffer instanceof ArrayBuffer)) return;
  buffer.transfer(0);
}
