// RFC 6750, section 3.

export const missingTokenChallenge = 'Bearer realm="tributary"';
export const invalidTokenChallenge = `${missingTokenChallenge}, error="invalid_token"`;
