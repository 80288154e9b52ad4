// SPDX-License-Identifier: MIT

/** Bloom filters that umbel wrote: {@link umbel.BloomFile} asks them whether they have a key. */
package umbel;
