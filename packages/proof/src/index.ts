/** Verifiable statements about payments. */
export { SDJwtInstance } from '@sd-jwt/core'
export { createLocalJWKSet } from 'jose'
